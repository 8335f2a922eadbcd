// The one front end of flatviz (hence its length): the page of `flatviz tour` holds it, the lab loads it once a page.
//
// show({Plotly, model, el, bundle, ask, hash}) draws the figures of a family and their controls.  `bundle.index` says what is
// where: `figures` (traces and layout as the Python plot_* functions made them, `binds`, which parts change, `shared`, the
// axes whose range holds every member, `group`, its tab, `slot` and `option`, what it is an alternative to, and `link`, which
// of its points are draws), `fields` (name, offset, shape in one member's record of float32), `members` (method, radius,
// label, words, ranges, alt texts, captions of their own), `story`, the sections of the article, `code`, how Python gets the family, and `config`, plotly's.
// `bundle.buffer` holds the members' records one after the other.  `model` is a widget model, or stands in for one: get, set,
// save_changes, on(event, callback), with the traits radius, n_draws, method and look.  `ask(want, what)` speaks to a kernel;
// hash: whether the state stands in the address of the page.
// former: `history` of what was shown here before, of the same controls.

export function show({ Plotly, model, el, bundle, ask = null, hash = false, former = null }) {
  const { index } = bundle, { fields } = index;
  learnColors(index.dark);
  const members = unpack(bundle);
  let live = Boolean(index.live && ask);                // whether a kernel can fit what is not there
  const story = index.story ?? [];
  const state = new State(model, index, schedule, (values) => {
    if (["method", "radius", "compare", "step"].some((name) => name in values)) player.halt();
    if (["phase", "moment", "chosen", "tab", "compare", "step"].some((name) => name in values)) frames.forEach((f) => f.phases?.player.halt());
  });
  if (former) Object.assign(state, former);               // undo goes on over a family that is sent anew
  let printing = false, waiting = false, stopped = false, pending = [], hovered = null, shot = 0, address = 0, stale = true, placed = false;

  // ---------------------------------------------------------------- members
  const methods = () => [...new Set(members.map((m) => m.meta.method))];
  const membersOf = (method) => members.filter((m) => m.meta.method === method);
  const fitted = (method) => membersOf(method).filter((m) => !m.meta.note).map((m) => m.meta.radius).sort((x, y) => x - y);
  function stops(method) {                                // where the radius slider stops, 0 first
    const offered = live ? (index.stops[method] ?? []) : [];
    return [...new Set([...membersOf(method).map((m) => m.meta.radius), ...offered])].sort((a, b) => a - b);
  }
  function standing(method, wanted) {                     // the member shown at these controls
    const known = methods().includes(method) ? method : methods()[0];
    const all = membersOf(known);
    return { method: known, wanted, member: all[nearest(all.map((m) => m.meta.radius), wanted)] };
  }
  function current() {
    const now = state.all, b = now.compare;
    return { ...now, a: standing(now.method, now.radius), b: b && standing(b.method, b.radius) };
  }

  // ---------------------------------------------------------------- the page
  const a = new Side("", (v) => state.change(v));
  const b = new Side("B", (v) => state.change({ compare: { method: b.method, radius: b.wanted, ...v } }));
  const draws = element("input", { type: "range", class: "fv-draws", min: 1, max: index.n_max, step: 1, "aria-label": "ensemble size" });
  const drawsText = element("output");
  draws.addEventListener("input", () => state.change({ n_draws: Number(draws.value) }));
  const compare = action("Compare", "two states side by side, on the same scales", () => {
    const now = current(), other = methods().find((m) => m === "vi" && m !== now.a.method) ?? now.a.method;
    state.change({ compare: now.b ? null : { method: other, radius: stops(other)[0] } });
  });
  const player = new Player((first) => {                  // from radius 0 on where it stands at the largest
    const { a: { method, member } } = current(), { radius: at } = member.meta;
    const radii = fitted(method);
    const radius = radii.find((r) => r > at) ?? (first ? radii[0] : undefined);
    if (radius === undefined || radii.length < 2) return false;
    if (first) state.past.push(state.all);                // one step of undo, however far it plays
    state.put({ ...state.all, radius });
    return true;
  }, "go through the fitted radii of this method");
  const undo = action("Undo", "take the last change back", () => state.undo());
  const more = menu("Menu", [
    ["Reset", () => state.reset()],
    ["Copy as code", () => copyCode()],
    ...(hash ? [["Copy link", () => copied(new URL(state.hash, location.href).href, "link")]] : []),
    ["Save as SVG", () => save("svg")],
    ["Save as PNG", () => save("png")],
    ...(globalThis.MediaRecorder ? [["Save film of the radius", () => film()]] : []),
  ]);
  const controls = element("div", { class: "fv-controls", role: "group", "aria-label": "controls" }, a.node,
    element("label", {}, element("span", {}, "ensemble size"), draws, drawsText), b.node);
  const buttons = element("div", { class: "fv-buttons", role: "group", "aria-label": "actions" }, player.button, compare, undo, more);
  const bar = element("progress", { max: 1, value: 0, "aria-label": "share of the fit that is done" }), said = element("span", { role: "status" });
  const button = action("Stop", "stop or start fitting", () => ask?.(button.textContent === "Stop" ? "stop" : "run"));
  const bands = action("Bands over seeds", "fit every member again with two more seeds, behind the picture", () => ask?.("seeds"));
  bands.hidden = index.seeds !== 1;                       // one seed: what looks like a trend may be noise
  const work = element("div", { class: "fv-work" }, button, bar, said, bands);
  work.hidden = !live;
  const note = element("div", { class: "fv-note", role: "alert", hidden: "" });
  const code = element("textarea", { class: "fv-code", rows: 6, readonly: "", hidden: "", "aria-label": "code", style: "width:100%" });
  const reading = element("p", { class: "fv-reading" }), readingB = element("p", { class: "fv-reading", hidden: "" });
  const spoken = element("div", { "aria-live": "polite" }, reading, readingB);
  const groups = [...new Set(index.figures.map((f) => f.group))];
  const tabs = element("div", { class: "fv-tabs", role: "tablist", "aria-label": "views" });
  const names = groups.length > 1 ? [...groups, ALL] : groups;
  const panelId = `fv-panel-${Math.random().toString(36).slice(2)}`;
  const tabButtons = names.map((name) => {
    const tab = element("button", { type: "button", role: "tab", "aria-controls": panelId }, name);
    tab.addEventListener("click", () => state.change({ tab: name }));
    return tab;
  });
  tabs.append(...tabButtons);
  tabs.addEventListener("keydown", (e) => {
    const turn = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!turn) return;
    const i = (names.indexOf(tabOf(state.all)) + turn + names.length) % names.length;
    state.change({ tab: names[i] });
    tabButtons[i].focus();
  });
  tabs.hidden = names.length < 2;
  const sections = story.map((s) => element("section", {}, element("h2", {}, s.title), ...paragraphs(s.text)));
  const text = element("article", { class: "fv-article" }, ...sections);
  text.hidden = !story.length;
  const grid = element("div", { class: "fv-figures", role: "tabpanel", id: panelId, "aria-label": "pictures", tabindex: 0 });
  const head = element("div", { class: "fv-bar" }, controls, work, note, spoken, element("div", { class: "fv-strip" }, tabs, buttons));
  el.classList.add("flatviz");
  keepKeys(el);
  const stage = element("div", { class: "fv-stage" }, head, code, grid);
  el.replaceChildren(element("style", {}, STYLE), element("div", { class: "fv-body" }, text, stage));

  // ---------------------------------------------------------------- pictures in frames: alternatives share one
  const choose = (slot, option) => state.change({ chosen: { ...state.all.chosen, [slot]: option } });
  const tools = { Plotly, index, members, point, choose, chosen: () => state.all.chosen, redraw: schedule, replace: (picture) => picture.light(hovered ?? state.all.picked) };
  const frames = [];
  for (const entry of index.figures) {
    let frame = entry.slot ? frames.find((f) => f.slot === entry.slot && f.group === entry.group) : null;
    if (!frame) {
      const pair = element("div", { class: "fv-pair" }), caption = element("p"), about = element("details", { open: "" }, element("summary", {}, "What is this?"), caption);
      const choice = element("div", { class: "fv-choice", hidden: "" });
      const node = element("figure", {}, choice, pair, element("figcaption", {}, about));
      frame = { slot: entry.slot, group: entry.group, span: entry.span, least: entry.least, entries: [], node, pair, caption, about, choice, menus: {}, made: {}, shown: "" };
      grid.append(node);
      frames.push(frame);
    }
    frame.entries.push(entry);
    frame.choice.hidden = frame.entries.length < 2;
    if (entry.phases.length && !frame.phases) {
      frame.phases = new Phases((at) => state.change(standAt(at, chosenOf(frame, state.all.chosen).common)), (first) => playPhase(frame, first));
      frame.pair.after(frame.phases.node);
    }
  }
  const optionOf = (entry) => Object.values(entry.option).join(", ");
  for (const frame of frames) {                           // a menu for each name of its options that has alternatives
    for (const name of Object.keys(frame.entries[0].option)) {
      const values = [...new Set(frame.entries.map((e) => e.option[name]))];
      const menu = element("select", { "aria-label": `${name} of this picture` }, ...values.map((v) => element("option", { value: v }, v)));
      menu.addEventListener("change", () => {              // the others stay, as far as there is such a picture
        const here = chosenOf(frame, state.all.chosen).option, like = (e) => Object.keys(here).filter((k) => e.option[k] === here[k]).length;
        const able = frame.entries.filter((e) => e.option[name] === menu.value);
        choose(frame.slot, optionOf(able.reduce((best, e) => (like(e) > like(best) ? e : best))));
      });
      frame.menus[name] = menu;
      if (values.length > 1) frame.choice.append(menu);
    }
  }
  const tabOf = ({ tab }) => (printing ? ALL : names.includes(tab) ? tab : names[0]);
  const inTab = (frame, tab) => tab === ALL || frame.group === tab;
  const chosenOf = (frame, chosen) => frame.entries.find((e) => optionOf(e) === chosen[frame.slot]) ?? frame.entries[0];
  const placeOf = ({ phases }, { phase, moment }) => {     // of the state among a picture's phases: the last without a choice
    const { length: each } = index.phases, last = phases.length / each - 1;
    return phases.length && each * Math.min(moment ?? last, last) + Math.min(phase ?? each, each - 1);
  };
  const standAt = (at, several) => {
    const { length: each } = index.phases;
    return { phase: at % each, ...(several ? { moment: Math.floor(at / each) } : {}) };
  };
  function playPhase(frame, first) {
    const entry = chosenOf(frame, state.all.chosen), here = placeOf(entry, state.all), last = entry.phases.length - 1;
    const at = first && here === last ? 0 : here + 1;
    if (at > last) return false;
    if (first) state.past.push(state.all);                // one step of undo, however far it plays
    state.put({ ...state.all, ...standAt(at, entry.common) });
    return true;
  }
  const reads = ({ step: at }) => at >= 0 && at < story.length - 1 && !printing;  // the last section is to explore
  const pictures = () => frames.flatMap((f) => Object.values(f.made));

  function arrange(now) {                                 // columns and heights by the room there is
    const width = el.clientWidth, tab = tabOf(now), reading = reads(now), wide = width >= 900;
    let shown = frames.filter((f) => inTab(f, tab));
    const classes = { narrow: width < 640 || printing, beside: wide && !printing, above: !wide && !printing, two: now.b, reads: reading, story: story.length && !printing };
    for (const [name, on] of Object.entries(classes)) el.classList.toggle(`fv-${name}`, Boolean(on));
    for (const node of [tabs, compare, undo]) node.hidden = reading || (node === tabs && names.length < 2);
    if (reading && (!wide || now.b || shown.some((f) => (grid.clientWidth * f.spread(shown)) / 12 < f.least))) {   // one picture: that of which the text speaks
      shown = [shown.find((f) => f.entries.some((e) => e.name === story[now.step].set?.see)) ?? shown[0]];
    }
    const all = shown.reduce((sum, f) => sum + f.span, 0), tight = (f) => (grid.clientWidth * f.spread(shown)) / 12 < f.least;
    const row = tab !== ALL && (all <= 12 || shown.length < 3) && !now.b, below = row && shown.some(tight);
    const halves = width < 1000 || now.b, lines = [[]];      // all pictures: as many a line as there is room for, and no hole at its end
    const share = (f, line) => (halves ? 12 / line.length : f.spread(line));
    for (const f of shown) {
      const line = [...lines.at(-1), f], few = line.some((g) => (grid.clientWidth * share(g, line)) / 12 < g.least);
      if (line.length > 1 && (few || line.reduce((sum, g) => sum + (halves ? 6 : g.span), 0) > 12)) lines.push([]);
      lines.at(-1).push(f);
    }
    const filled = (f) => share(f, lines.find((line) => line.includes(f)) ?? [f]);
    const tap = width < 640 && !printing;
    for (const f of frames) {
      if (f.tap !== tap) Object.assign(f, { tap }).about.open = !tap;   // captions on tap, where a picture takes the whole width
      f.node.hidden = !shown.includes(f);
      if (reading && !wide && now.b) f.pair.tabIndex = 0; else f.pair.removeAttribute("tabindex");   // A and B stand in a row that is scrolled
      f.node.style.gridColumn = (now.b || below) && tab !== ALL ? "span 12" : row ? `span ${f.spread(shown)}` : `span ${filled(f)}`;
    }
  }
  for (const f of frames) {
    f.spread = (shown) => {                               // its share of twelve columns, so that a row is full and each has what it needs
      const added = (values) => values.reduce((s, v) => s + v, 0), sum = added(shown.map((g) => g.span));
      const need = shown.map((g) => Math.ceil((12 * g.least) / grid.clientWidth));
      let wide = shown.map((g) => Math.max(3, Math.round((12 * g.span) / sum)));
      if (wide.some((w, i) => w < need[i]) && added(need) <= 12 && need.every(Boolean)) wide = need;
      wide[wide.length - 1] += 12 - added(wide);
      return wide[shown.indexOf(f)];
    };
  }

  // Of what stands above pictures or below them, px: of the tallest that it was in this place, for a line of its text more or less
  // must not draw every picture anew.
  const tallest = new Map();
  function tall(node, now) {
    const place = [el.clientWidth, Boolean(now.b), reads(now), note.textContent].join(), was = tallest.get(node);
    const px = node.hidden ? 0 : Math.max(node.offsetHeight, was?.place === place ? was.px : 0);
    tallest.set(node, { place, px });
    return px;
  }

  const screenHeight = () => el.closest(".jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight || window.innerHeight;

  function height(now, frame) {                           // so that bar and picture are on one screen
    const { height: own, layout } = chosenOf(frame, now.chosen), screen = screenHeight();
    if (reads(now) && el.clientWidth < 900) return stage.clientHeight - tall(head, now) - (frame.phases ? tall(frame.phases.node, now) : 0) - tall(frame.about.firstChild, now) - tall(frame.choice, now) - 24;
    const several = Object.keys(layout).filter((key) => /^[xy]axis/.test(key)).length > 2;
    if (now.b && el.clientWidth < 640 && !printing) return several ? 440 : Math.max(230, Math.round((screen - tall(head, now) - 40) / 2));   // A above B on one screen
    const roomy = frame.phases && !reads(now) ? above(layout) + FOOT + 290 : 300;  // the step has small marks
    const least = el.clientWidth < 690 ? roomy : Math.max(300, Math.min(roomy, screen - tall(head, now) - 44));  // the menu of the picture is above it
    if (printing) return own;
    if (tabOf(now) === ALL) return Math.max(least, Math.min(own, screen - tall(head, now) - 40));
    const title = el.closest(".jp-Notebook") ? 0 : el.getBoundingClientRect().top + window.scrollY;   // the page's title and introduction
    const under = (f) => (f.phases ? tall(f.phases.node, now) : 0) + (reads(now) ? tall(f.choice, now) + tall(f.caption, now) : now.b ? 36 : 80);   // a caption of four lines, which a pair leaves out
    const below = 24 + (reads(now) ? Math.max(...frames.filter((f) => !f.node.hidden).map(under)) : under(frame));   // the article's pictures are whole on the screen
    const room = screen - tall(head, now) - Math.max(below, el.clientWidth >= 1000 && title < 0.3 * screen ? title + 48 : 0);
    return Math.round(Math.max(least, Math.min(now.b ? 440 : 560, room)));
  }

  function ranges(entry) {
    const held = {};
    for (const axis of entry.shared) {
      const ends = members.flatMap((m) => m.meta.ranges[entry.name]?.[axis] ?? []);
      if (ends.length) held[axis] = [Math.min(...ends), Math.max(...ends)];
    }
    return held;
  }

  // ---------------------------------------------------------------- words
  function sentence({ method, member, wanted }, n) {
    const value = (name) => read(fields, member, name), at = (name) => value(name)[n - 1], r = member.meta.radius;
    const missing = Math.abs(r - wanted) > 1e-6 * Math.max(1, wanted) && membersOf(method).length > 1
      ? `radius ${short(wanted)} is not fitted; shown: ` : "";
    const at_radius = r > 0 ? `, radius ${short(r)} ${member.meta.unit}` : member.meta.equals ? `, radius 0, which is ${member.meta.equals}` : "";
    return `${missing}${member.meta.label}${at_radius}${member.meta.note ?? ""}, ${counted(Math.min(n, member.meta.n_draws), "draw")}: `
      + (Number.isFinite(at("nll")) ? `accuracy ${(100 * at("accuracy")).toFixed(1)} %, NLL ${at("nll").toFixed(3)} nats, ECE ${at("ece").toFixed(3)}; `
        : "diverged, no score is a number; ")
      + (Number.isFinite(value("lambda1")[0]) ? `largest eigenvalue λ₁ ${short(value("lambda1")[0])}.` : "no largest eigenvalue λ₁ was found.");
  }
  const numbers = ({ member }, n) => {                    // the same in one line of a phone
    const at = (name) => read(fields, member, name)[n - 1], [lambda1] = read(fields, member, "lambda1");
    return Number.isFinite(at("nll")) ? `${(100 * at("accuracy")).toFixed(1)} % right, NLL ${at("nll").toFixed(3)}, ECE ${at("ece").toFixed(3)}, λ₁ ${short(lambda1)}` : "diverged";
  };
  function aboutDraw({ member }, d) {
    const loss = read(fields, member, "draw loss")[d], off = read(fields, member, "draw distance")[d];
    return Number.isFinite(loss) ? ` Draw ${d + 1}: training loss ${short(loss)}, ${short(off)} off the plane.` : "";
  }

  function drawControls(now) {
    const { a: first, b: second, n_draws: n } = now;
    const narrow = el.clientWidth < 640 && !printing;
    const offered = methods().map((m) => {
      const { label, unit } = membersOf(m)[0].meta;
      return [m, label, stops(m), unit, index.defaults[m]];
    });
    a.show(first.method, now.radius, offered, narrow);
    a.letter.textContent = second ? "A" : "";
    b.node.hidden = !second;
    if (second) b.show(second.method, now.compare.radius, offered, narrow);
    draws.value = n;
    draws.disabled = [first, second].every((s) => !s || s.member.meta.n_draws === 1);   // a point is every ensemble
    drawsText.textContent = draws.disabled ? "one point" : counted(n, "draw");
    draws.setAttribute("aria-valuetext", drawsText.textContent);
    compare.setAttribute("aria-pressed", Boolean(second));
    compare.textContent = second ? "One state" : "Compare";
    undo.disabled = !state.past.length;
    player.button.disabled = membersOf(first.method).length < 2;
    const d = hovered ?? now.picked;
    const about = (s, letter) => [(second ? `${letter}: ` : "") + (narrow && reads(now) ? numbers : sentence)(s, n), element("span", { class: "fv-draw" }, d === null ? "" : aboutDraw(s, d))];
    reading.replaceChildren(...about(first, "A"));
    readingB.hidden = !second;
    if (second) readingB.replaceChildren(...about(second, "B"));
    const tab = tabOf(now);
    el.classList.toggle("fv-drawn", frames.some((f) => inTab(f, tab) && Object.keys(chosenOf(f, now.chosen).link).length > 0));
    tabButtons.forEach((t, i) => {
      t.setAttribute("aria-selected", names[i] === tab);
      t.tabIndex = names[i] === tab ? 0 : -1;
    });
  }

  // ---------------------------------------------------------------- the article: the section in sight sets the controls
  let explored = null;                                    // state in which the reader left the last section
  const cover = () => (el.clientWidth < 900 ? parseFloat(getComputedStyle(text).paddingTop) : 0);  // of the screen, by the pictures
  function inSight() {                                    // the section being read, -1 for the last
    const line = cover() + 0.45 * (window.innerHeight - cover());
    const at = Math.max(0, sections.findLastIndex((s) => s.getBoundingClientRect().top < line));
    return at < sections.length - 1 ? at : -1;
  }
  function follow() {
    const at = inSight(), now = state.all;
    if (stopped || printing || !placed || at === now.step) return;   // not before the page is scrolled to where its state says
    if (now.step < 0) explored = now;
    const { method, radius, n_draws } = state.start, { see, ...values } = story.at(at).set ?? {};
    state.acted({ step: at });                             // a section is in the state of which it speaks, whatever was chosen in another
    state.put((at < 0 && explored) || { method, radius, n_draws, ...values, step: at });
  }
  function goTo() {                                      // where the state says that the reader is
    if (story.length && inSight() !== state.all.step) (sections[state.all.step] ?? stage).scrollIntoView();
  }
  let rest = 0;
  const scrolled = () => { clearTimeout(rest); rest = setTimeout(follow, 120); };

  // ---------------------------------------------------------------- drawing: what is in sight first, the newest state only
  function draw() {
    const now = current();
    arrange(now);
    drawControls(now);
    if (!placed && !stopped) { placed = true; goTo(); }
    const dark = isDark() && !printing;
    el.dataset.theme = dark ? "dark" : "light";
    pending = [];
    for (const frame of frames.filter((f) => !f.node.hidden)) {
      const entry = chosenOf(frame, now.chosen), alone = entry.kind === "plotly" && (entry.common || !entry.binds.length);
      const sides = now.b && !alone ? { A: now.a, B: now.b } : { A: now.a };
      if (frame.shown !== `${entry.name}/${Object.keys(sides)}`) {
        frame.shown = `${entry.name}/${Object.keys(sides)}`;
        frame.node.dataset.name = entry.name;
        for (const [name, value] of Object.entries(entry.option)) frame.menus[name].value = value;
        const all = Object.keys(sides).map((letter) => (frame.made[entry.name + letter] ??= new (entry.kind === "images" ? ImagePicture : Picture)(entry, letter, tools)));
        frame.pair.replaceChildren(...all.map((p) => p.node));
      }
      const said = now.a.member.meta.captions?.[entry.name] ?? entry.caption;
      if (frame.caption.textContent !== said) frame.caption.textContent = said;
      frame.phases?.show(entry.phases, placeOf(entry, now));
      for (const [letter, { member }] of Object.entries(sides)) {
        const picture = frame.made[entry.name + letter], waits = member.meta.waiting?.includes(entry.name);
        picture.node.classList.toggle("fv-waits", Boolean(waits));
        if (waits) continue;                              // a preview, of which this is not measured yet
        picture.mark.hidden = !now.b || alone;
        pending.push({ frame, picture, member, entry });
      }
    }
    for (const one of pending) {                          // all that is measured, before anything is drawn: the browser lays out once
      one.height = height(now, one.frame);
      one.most = printing ? Infinity : reads(now) || (now.b && el.clientWidth < 640) ? one.height : screenHeight() - tall(head, now) - 8;
      if (one.picture.state) one.width = one.picture.plot.clientWidth;
    }
    const away = ({ frame }) => { const { top, bottom } = frame.node.getBoundingClientRect(); return bottom < 0 || top > window.innerHeight; };
    if (tabOf(now) === ALL) pending.sort((x, y) => away(x) - away(y));
    go(now, dark);
  }

  function go(now, dark) {
    const until = performance.now() + (printing ? 1e9 : 30);  // ms: two pictures in one frame, where they are drawn in two at most
    while (pending.length) {
      const { frame, picture, member, entry, height: px, most, width } = pending.shift();
      if (picture.draw(member, now.n_draws, { height: px, most, width, dark, phone: el.clientWidth < 640 && !printing, ranges: ranges(entry), transition: player.glide, at: placeOf(entry, now) })) {
        picture.light(hovered ?? now.picked);
      }
      const [title] = (entry.layout.title?.text ?? "").split("<br>");   // a narrow picture has it below
      frame.about.firstChild.textContent = picture.narrow && title ? `${title}: what is this?` : "What is this?";
      if (picture.print && !frame.caption.textContent.endsWith(picture.print)) frame.caption.append(picture.print);
      const phase = entry.phases[placeOf(entry, now)]?.[0];
      picture.describe(`${member.meta.alts[entry.name]}${phase ? `; ${phase}` : ""}. ${sentence({ ...now.a, member, wanted: member.meta.radius, method: member.meta.method }, now.n_draws)}`);
      if (performance.now() > until && pending.length) {
        const rest = pending;
        requestAnimationFrame(() => { if (pending === rest && !stopped) go(now, dark); });
        return;
      }
    }
    el.dataset.state = `${now.a.method}/${now.a.member.meta.radius}/${now.n_draws}`;
    el.dataset.shown = now.a.member.meta.note ? "preview" : "fitted";
    el.dataset.look = `${tabOf(now)}${now.b ? ` | ${now.b.method}/${now.b.member.meta.radius}` : ""}`;
    if (hash && !stale) {                                  // once a drag rests, where nobody changed the address meanwhile
      const before = location.hash;
      clearTimeout(address);
      address = setTimeout(() => { if (location.hash === before) history.replaceState(null, "", state.hash); }, 100);
    }
    if (stale) performance.mark("flatviz-drawn");
    stale = false;
    if (live) { clearTimeout(shot); shot = setTimeout(photograph, 1500); }
  }

  function schedule() {                                   // once a frame, with the newest values
    if (waiting || stopped) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (stopped) return;
      if (el.isConnected) draw();
      else setTimeout(schedule, 100);                     // JupyterLab attaches a view after it is made, or scrolls it away
    });
  }

  function point(kind, d) {                               // a draw that the reader points at, or picks with a click
    if (kind === "click") return state.change({ picked: state.all.picked === d ? null : d });
    if (hovered === d) return undefined;
    hovered = d;
    drawControls(current());
    return pictures().forEach((p) => p.light(p.plot.clientWidth ? d ?? state.all.picked : null));
  }

  // ---------------------------------------------------------------- taking it along
  const shownNow = () => frames.filter((f) => !f.node.hidden).flatMap((f) => {
    const entry = chosenOf(f, state.all.chosen);
    return ["A", "B"].map((letter) => [letter, entry, f.made[entry.name + letter]]).filter(([, , p]) => p?.node.isConnected && p.state);
  });
  async function save(format) {
    for (const [letter, entry, picture] of shownNow()) {
      const { method, radius } = picture.member.meta;
      download(await picture.image(format, format === "png" ? 2 : 1), ["flatviz", entry.name, method, radius || "", letter === "B" ? "b" : ""].filter(Boolean).join("-") + `.${format}`);
    }
  }
  // The pictures that are shown, side by side, at every fitted radius and back again, as a video.
  async function film() {
    const before = state.all, { method, member: { meta: { label } } } = current().a, stills = [], FOOT = 40, EACH = 450;   // px, ms
    for (const radius of fitted(method)) {
      state.put({ ...before, radius });
      while (el.dataset.state !== `${method}/${radius}/${before.n_draws}`) await new Promise(requestAnimationFrame);
      stills.push({ radius, images: await Promise.all(shownNow().map(async ([, , p]) => loaded(await p.image("png")))) });
    }
    state.put(before);
    const wide = Math.max(...stills.map(({ images }) => images.reduce((sum, i) => sum + i.width, 0))), tall = Math.max(...stills.flatMap(({ images }) => images.map((i) => i.height)));
    const canvas = element("canvas", { width: wide + wide % 2, height: tall + FOOT + tall % 2 }), pen = canvas.getContext("2d");   // even, as MP4 needs it
    const [{ color, backgroundColor, fontFamily }, parts] = [getComputedStyle(el), []];
    const type = ["video/mp4", "video/webm"].find((t) => MediaRecorder.isTypeSupported(t)), recorder = new MediaRecorder(canvas.captureStream(), { mimeType: type, videoBitsPerSecond: 4e6 });
    const ended = new Promise((done) => { recorder.addEventListener("stop", done); });
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    recorder.start();
    for (const { radius, images } of [...stills, ...stills.slice(0, -1).reverse(), stills[0]]) {   // a video ends where its last picture begins
      Object.assign(pen, { fillStyle: backgroundColor, font: `600 18px ${fontFamily}` });
      pen.fillRect(0, 0, canvas.width, canvas.height);
      images.reduce((x, image) => { pen.drawImage(image, x, 0); return x + image.width; }, 0);
      pen.fillStyle = color;
      pen.fillText(`${label}, radius ${radius}`, 14, canvas.height - 14);
      await new Promise((done) => { setTimeout(done, EACH); });
    }
    recorder.stop();
    await ended;
    download(URL.createObjectURL(new Blob(parts, { type })), `flatviz-${method}-radius.${type.slice(6)}`);
  }
  function copyCode() {
    const { n_draws: n, phase, moment, chosen } = state.all;
    const calls = shownNow().map(([, entry, { member: { meta } }]) => {
      const more = {                                      // what only some pictures have, where the reader chose it
        phase: entry.phases.length && phase !== null ? JSON.stringify(index.phases[Math.min(phase, index.phases.length - 1)]) : "",
        moment: entry.common && entry.phases.length && moment !== null ? Math.floor(placeOf(entry, state.all) / index.phases.length) : "",
        image: entry.kind === "images" ? chosen.image ?? "" : "",
      };
      const said = Object.entries(more).filter(([, value]) => value !== "").map(([name, value]) => `, ${name}=${value}`).join("");
      return `fv.widgets.plot_view(family, ${JSON.stringify(entry.name)}, method=${JSON.stringify(meta.method)}, radius=${meta.radius}, n_draws=${n}${said})`;
    });
    copied(["import flatviz as fv", "", ...(index.code ?? []), ...calls].join("\n"), "code");
  }
  function copied(words, what) {
    code.hidden = false;
    code.value = words;
    code.select();
    navigator.clipboard?.writeText(words).then(() => code.setAttribute("aria-label", `${what}, copied`), () => {});
    const away = (e) => { if (e.target !== code) { code.hidden = true; document.removeEventListener("pointerdown", away); } };
    document.addEventListener("pointerdown", away);
  }
  async function photograph() {                           // what a notebook without a kernel will show
    if (stopped || !el.isConnected) return;
    const images = await Promise.all(shownNow().slice(0, 2).map(([, , p]) => p.image("png")));
    ask("picture", { images, text: spoken.innerText });
  }

  // ---------------------------------------------------------------- the world around
  const events = ["radius", "n_draws", "method", "look"].map((t) => `change:${t}`);
  for (const e of events) model.on(e, schedule);
  let width = 0;
  const watcher = new ResizeObserver(() => {              // of a window, or of a panel of JupyterLab
    if (stopped || !el.clientWidth) return;
    if (el.clientWidth !== width) { width = el.clientWidth; placed = false; arrange(current()); schedule(); }
    pictures().forEach((p) => p.resize());
    pictures().forEach((p) => p.light(p.plot.clientWidth ? hovered ?? state.all.picked : null));
  });
  [el, grid].forEach((node) => watcher.observe(node));
  const forget = onThemeChange(schedule);
  const print = (on) => () => {
    printing = on;
    el.style.width = on ? "660px" : "";
    draw();
    if (on) pictures().forEach((p) => p.resize());
  };
  const beforePrint = print(true), afterPrint = print(false), turned = () => { if (location.hash !== state.hash) { state.read(location.hash); placed = false; } };
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("afterprint", afterPrint);
  window.addEventListener("resize", schedule);
  if (story.length) window.addEventListener("scroll", scrolled, { passive: true });
  if (hash) {
    window.addEventListener("hashchange", turned);
    if (location.hash.length > 1) state.read(location.hash);
  }

  schedule();
  return {
    get history() { return { past: state.past, start: state.start }; },
    // A member fitted since: its record replaces or joins the others, and figures are as they are with it.
    add(extra) {
      for (const member of unpack(extra)) {
        const at = members.findIndex((m) => m.meta.method === member.meta.method && m.meta.radius === member.meta.radius);
        if (at >= 0) member.version = (members[at].version ?? 0) + 1;
        if (at < 0) members.push(member); else members[at] = member;
      }
      for (const changed of extra.index.figures ?? []) {   // curves, scales and captions, which are of all members
        const entry = Object.assign(index.figures.find((f) => f.name === changed.name), changed);
        const { made } = frames.find((f) => f.entries.includes(entry));
        if (changed.data || changed.layout) ["A", "B"].forEach((letter) => made[entry.name + letter]?.renew());
      }
      schedule();
    },
    // What the kernel does: share done, a line of text, whether it works, an error to be read whole.
    status({ share, text: line, busy, error }) {
      bar.value = share;
      said.textContent = line;
      button.textContent = busy ? "Stop" : "Run";
      bands.disabled = busy;
      note.hidden = !error;
      note.textContent = error ?? "";
    },
    // The kernel is gone: what was fitted can still be looked at.
    lost(why) {
      live = false;                                       // nobody fits what is not there
      work.hidden = true;
      note.hidden = false;
      note.textContent = why;
      schedule();
    },
    stop() {
      stopped = true;
      player.halt();
      frames.forEach((f) => f.phases?.player.halt());
      clearTimeout(shot);
      clearTimeout(address);
      watcher.disconnect();
      forget();
      for (const e of events) model.off?.(e, schedule);
      window.removeEventListener("beforeprint", beforePrint);
      window.removeEventListener("afterprint", afterPrint);
      window.removeEventListener("resize", schedule);
      window.removeEventListener("hashchange", turned);
      window.removeEventListener("scroll", scrolled);
      pictures().forEach((p) => Plotly.purge(p.plot));
    },
  };
}
