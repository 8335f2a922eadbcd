// The one front end of flatviz: the page of `flatviz tour` holds it, the lab loads it once a page.
//
// show({Plotly, model, el, bundle, ask, hash}) draws the figures of a family and their controls.
// `bundle.index` says what is
// where: `figures` (traces and layout as the Python plot_* functions made them, `binds`, which
// parts change, `shared`, the
// axes whose range holds every member, `group`, its tab, `slot` and `option`, what it is an
// alternative to, and `link`, which
// of its points are draws), `fields` (name, offset, shape in one member's record of float32),
// `members` (method, radius,
// label, words, ranges, alt texts, captions of their own), `story`, the sections of the article,
// `code`, how Python gets the family, and `config`, plotly's.
// `bundle.buffer` holds the members' records one after the other.  `model` is a widget model, or
// stands in for one: get, set,
// save_changes, on(event, callback), with the traits radius, n_draws, method and look.  `ask(want,
// what)` speaks to a kernel;
// hash: whether the state stands in the address of the page.
// former: `history` of what was shown here before, of the same controls.
import { Article } from "./article.js";
import { isDark, learnColors, onThemeChange } from "./colors.js";
import { action, counted, element, menu, Player, Side } from "./controls.js";
import { Picture } from "./figures.js";
import { codeOf, Copied, film, save } from "./film.js";
import { ImagePicture } from "./images.js";
import { keepKeys } from "./keys.js";
import { Frame, Layout } from "./layout.js";
import { Members } from "./members.js";
import { ALL, State } from "./state.js";
import STYLE from "./style.css";

export function show(options) {
  return new Explorer(options).handle;
}

class Explorer {
  index;
  hash;
  ask;
  el;
  Plotly;
  timers;
  model;

  constructor({ Plotly, model, el, bundle, ask = null, hash = false, former = null }) {
    const { index } = bundle;
    learnColors(index.dark);
    Object.assign(this, {
      Plotly,
      model,
      el,
      index,
      ask,
      hash,
      pending: [],
      hovered: null,
      timers: {},
      waiting: false,
      stopped: false,
      printing: false,
      placed: false,
      stale: true,
    });
    this.schedule = this.schedule.bind(this); // once a frame, with the newest values
    this.members = new Members(bundle, Boolean(index.live && ask));
    this.state = new State(model, index, this.schedule, (values) => {
      if (["method", "radius", "compare", "step"].some((name) => name in values))
        this.player.halt();
      if (["phase", "chosen", "tab", "compare", "step"].some((name) => name in values))
        this.frames.forEach((f) => f.phases?.player.halt());
    });
    if (former) Object.assign(this.state, former); // undo goes on over a family that is sent anew
    this.buildControls();
    this.buildPage();
    this.frames = [];
    for (const entry of index.figures) this.place(entry);
    for (const frame of this.frames) frame.offer(() => this.state.all.chosen);
    const { grid, head, stage, note, tabs, compare, undo, names, article } = this;
    this.layout = new Layout(this.frames, {
      el,
      grid,
      head,
      stage,
      note,
      tabs,
      compare,
      undo,
      names,
      article,
      printing: () => this.printing,
    });
    this.listen();
    this.schedule();
  }

  current() {
    const now = this.state.all,
      b = now.compare;
    return {
      ...now,
      a: this.members.standing(now.method, now.radius),
      b: b && this.members.standing(b.method, b.radius),
    };
  }

  // ---------------------------------------------------------------- the page

  buildControls() {
    const { state, index, members, hash, ask } = this;
    this.a = new Side("", (v) => state.change(v));
    this.b = new Side("B", (v) =>
      state.change({ compare: { method: this.b.method, radius: this.b.wanted, ...v } }),
    );
    this.draws = element("input", {
      type: "range",
      class: "fv-draws",
      min: 1,
      max: index.n_max,
      step: 1,
      "aria-label": "ensemble size",
    });
    this.drawsText = element("output");
    this.draws.addEventListener("input", () => state.change({ n_draws: Number(this.draws.value) }));
    this.compare = action("Compare", "two states side by side, on the same scales", () => {
      const now = this.current(),
        other = members.methods.find((m) => m === "vi" && m !== now.a.method) ?? now.a.method;
      state.change({ compare: now.b ? null : { method: other, radius: members.stops(other)[0] } });
    });
    this.player = new Player(
      (first) => this.playRadius(first),
      "go through the fitted radii of this method",
    );
    this.undo = action("Undo", "take the last change back", () => state.undo());
    this.copied = new Copied();
    this.more = menu("Menu", [
      ["Reset", () => state.reset()],
      ["Copy as code", () => this.copied.take(codeOf(this.shown(), index, state.all), "code")],
      ...(hash
        ? [["Copy link", () => this.copied.take(new URL(state.hash, location.href).href, "link")]]
        : []),
      ["Save as SVG", () => save(this.shown(), "svg")],
      ["Save as PNG", () => save(this.shown(), "png")],
      ...(globalThis.MediaRecorder
        ? [
            [
              "Save film of the radius",
              () => {
                const { member } = this.current().a;
                film({
                  el: this.el,
                  state,
                  member,
                  radii: members.fitted(member.meta.method),
                  shown: () => this.shown(),
                });
              },
            ],
          ]
        : []),
    ]);
    this.bar = element("progress", {
      max: 1,
      value: 0,
      "aria-label": "share of the fit that is done",
    });
    this.said = element("span", { role: "status" });
    this.button = action("Stop", "stop or start fitting", () =>
      ask?.(this.button.textContent === "Stop" ? "stop" : "run"),
    );
    this.bands = action(
      "Bands over seeds",
      "fit every member again with two more seeds, behind the picture",
      () => ask?.("seeds"),
    );
    this.bands.hidden = index.seeds !== 1; // one seed: what looks like a trend may be noise
    this.work = element("div", { class: "fv-work" }, this.button, this.bar, this.said, this.bands);
    this.work.hidden = !members.live;
    this.note = element("div", { class: "fv-note", role: "alert", hidden: "" });
  }

  playRadius(first) {
    // from radius 0 on where it stands at the largest
    const {
        a: { method, member },
      } = this.current(),
      { radius: at } = member.meta;
    const radii = this.members.fitted(method);
    const radius = radii.find((r) => r > at) ?? (first ? radii[0] : undefined);
    if (radius === undefined || radii.length < 2) return false;
    if (first) this.state.past.push(this.state.all); // one step of undo, however far it plays
    this.state.put({ ...this.state.all, radius });
    return true;
  }

  buildPage() {
    const { el, index, state } = this,
      groups = [...new Set(index.figures.map((f) => f.group))];
    this.controls = element(
      "div",
      { class: "fv-controls", role: "group", "aria-label": "controls" },
      this.a.node,
      element("label", {}, element("span", {}, "ensemble size"), this.draws, this.drawsText),
      this.b.node,
    );
    const buttons = element(
      "div",
      { class: "fv-buttons", role: "group", "aria-label": "actions" },
      this.player.button,
      this.compare,
      this.undo,
      this.more,
    );
    this.reading = element("p", { class: "fv-reading" });
    this.readingB = element("p", { class: "fv-reading", hidden: "" });
    this.spoken = element("div", { "aria-live": "polite" }, this.reading, this.readingB);
    this.names = groups.length > 1 ? [...groups, ALL] : groups;
    const panel = `fv-panel-${Math.random().toString(36).slice(2)}`;
    this.tabs = this.tabList(panel);
    this.grid = element("div", {
      class: "fv-figures",
      role: "tabpanel",
      id: panel,
      "aria-label": "pictures",
      tabindex: 0,
    });
    this.head = element(
      "div",
      { class: "fv-bar" },
      this.controls,
      this.work,
      this.note,
      this.spoken,
      element("div", { class: "fv-strip" }, this.tabs, buttons),
    );
    this.stage = element("div", { class: "fv-stage" }, this.head, this.copied.node, this.grid);
    // not before the page is scrolled to where its state says
    this.article = new Article(index.story ?? [], {
      el,
      stage: this.stage,
      state,
      resting: () => this.stopped || this.printing || !this.placed,
    });
    el.classList.add("flatviz");
    keepKeys(el);
    el.replaceChildren(
      element("style", {}, STYLE),
      element("div", { class: "fv-body" }, this.article.node, this.stage),
    );
  }

  tabList(panel) {
    const { names, state } = this,
      tabs = element("div", { class: "fv-tabs", role: "tablist", "aria-label": "views" });
    this.tabButtons = names.map((name) => {
      const tab = element("button", { type: "button", role: "tab", "aria-controls": panel }, name);
      tab.addEventListener("click", () => state.change({ tab: name }));
      return tab;
    });
    tabs.append(...this.tabButtons);
    tabs.addEventListener("keydown", (e) => {
      const turn = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!turn) return;
      const i = (names.indexOf(this.layout.tabOf(state.all)) + turn + names.length) % names.length;
      state.change({ tab: names[i] });
      this.tabButtons[i].focus();
    });
    tabs.hidden = names.length < 2;
    return tabs;
  }

  // ---------------------------------------------------------------- pictures in frames: alternatives share one

  get tools() {
    const {
      Plotly,
      index,
      members: { list },
      state,
    } = this;
    return {
      Plotly,
      index,
      members: list,
      point: (kind, d) => this.point(kind, d),
      choose: (slot, option) => this.choose(slot, option),
      chosen: () => state.all.chosen,
      redraw: this.schedule,
      replace: (picture) => picture.light(this.lit),
    };
  }

  get lit() {
    return this.hovered ?? this.state.all.picked;
  } // the draw that is marked

  choose(slot, option) {
    this.state.change({ chosen: { ...this.state.all.chosen, [slot]: option } });
  }

  place(entry) {
    let frame = entry.slot
      ? this.frames.find((f) => f.slot === entry.slot && f.group === entry.group)
      : null;
    if (!frame) {
      frame = new Frame(entry, (option) => this.choose(entry.slot, option));
      this.grid.append(frame.node);
      this.frames.push(frame);
    }
    frame.add(entry);
    if (entry.phases.length && !frame.phases) {
      frame.phase(
        (phase) => this.state.change({ phase }),
        (first) => this.playPhase(frame, first),
      );
    }
  }

  placeOf({ phases }, { phase }) {
    // of the state among a picture's phases: the last without a choice
    return phases.length && Math.min(phase ?? phases.length, phases.length - 1);
  }

  playPhase(frame, first) {
    const { state } = this,
      entry = frame.entry(state.all.chosen),
      here = this.placeOf(entry, state.all),
      last = entry.phases.length - 1;
    const at = first && here === last ? 0 : here + 1;
    if (at > last) return false;
    if (first) state.past.push(state.all); // one step of undo, however far it plays
    state.put({ ...state.all, phase: at });
    return true;
  }

  get pictures() {
    return this.frames.flatMap((f) => Object.values(f.made));
  }

  // [[letter, entry, picture]] of all that is in sight.
  shown() {
    return this.frames
      .filter((f) => !f.node.hidden)
      .flatMap((f) => {
        const entry = f.entry(this.state.all.chosen);
        return ["A", "B"]
          .map((letter) => [letter, entry, f.made[entry.name + letter]])
          .filter(([, , p]) => p?.node.isConnected && p.state);
      });
  }

  // ---------------------------------------------------------------- drawing: what is in sight first, the newest state only

  drawControls(now) {
    const { a: first, b: second, n_draws: n } = now,
      { members, draws, drawsText, layout } = this,
      { offered } = members,
      { narrow } = layout;
    this.a.show(first.method, now.radius, offered, narrow);
    this.a.letter.textContent = second ? "A" : "";
    this.b.node.hidden = !second;
    if (second) this.b.show(second.method, now.compare.radius, offered, narrow);
    draws.value = n;
    // a point is every ensemble
    draws.disabled = [first, second].every((s) => !s || s.member.meta.n_draws === 1);
    drawsText.textContent = draws.disabled ? "one point" : counted(n, "draw");
    draws.setAttribute("aria-valuetext", drawsText.textContent);
    this.compare.setAttribute("aria-pressed", Boolean(second));
    this.compare.textContent = second ? "One state" : "Compare";
    this.undo.disabled = !this.state.past.length;
    this.player.button.disabled = members.of(first.method).length < 2;
    const d = this.hovered ?? now.picked,
      brief = narrow && layout.reads(now);
    const about = (s, letter) => [
      (second ? `${letter}: ` : "") + (brief ? members.numbers(s, n) : members.sentence(s, n)),
      element("span", { class: "fv-draw" }, d === null ? "" : members.aboutDraw(s, d)),
    ];
    this.reading.replaceChildren(...about(first, "A"));
    this.readingB.hidden = !second;
    if (second) this.readingB.replaceChildren(...about(second, "B"));
    const tab = layout.tabOf(now);
    this.el.classList.toggle(
      "fv-drawn",
      this.frames.some(
        (f) => layout.inTab(f, tab) && Object.keys(f.entry(now.chosen).link).length > 0,
      ),
    );
    this.tabButtons.forEach((t, i) => {
      t.setAttribute("aria-selected", this.names[i] === tab);
      t.tabIndex = this.names[i] === tab ? 0 : -1;
    });
  }

  draw() {
    const { layout, el } = this,
      now = this.current();
    layout.arrange(now);
    this.drawControls(now);
    if (!this.placed && !this.stopped) {
      this.placed = true;
      this.article.goTo();
    }
    const dark = isDark() && !this.printing;
    el.dataset.theme = dark ? "dark" : "light";
    this.pending = this.frames
      .filter((f) => !f.node.hidden)
      .flatMap((frame) => this.prepared(frame, now));
    for (const one of this.pending) {
      // all that is measured, before anything is drawn: the browser lays out once
      one.height = layout.height(now, one.frame);
      one.most = this.printing
        ? Infinity
        : layout.reads(now) || (now.b && el.clientWidth < 640)
          ? one.height
          : layout.screen - layout.tall(this.head, now) - 8;
      if (one.picture.state) one.width = one.picture.plot.clientWidth;
    }
    const away = ({ frame }) => {
      const { top, bottom } = frame.node.getBoundingClientRect();
      return bottom < 0 || top > window.innerHeight;
    };
    if (layout.tabOf(now) === ALL) this.pending.sort((x, y) => Number(away(x)) - Number(away(y)));
    this.go(now, dark);
  }

  // The pictures of a frame at this state, put into its place, with captions.
  prepared(frame, now) {
    const entry = frame.entry(now.chosen),
      alone = entry.kind === "plotly" && !entry.binds.length;
    const sides = now.b && !alone ? { A: now.a, B: now.b } : { A: now.a };
    if (frame.shown !== `${entry.name}/${Object.keys(sides)}`) {
      frame.shown = `${entry.name}/${Object.keys(sides)}`;
      frame.node.dataset.name = entry.name;
      for (const [name, value] of Object.entries(entry.option)) frame.menus[name].value = value;
      const all = Object.keys(sides).map(
        (letter) =>
          (frame.made[entry.name + letter] ??= new (
            entry.kind === "images" ? ImagePicture : Picture
          )(entry, letter, this.tools)),
      );
      frame.pair.replaceChildren(...all.map((p) => p.node));
    }
    const said = now.a.member.meta.captions?.[entry.name] ?? entry.caption;
    if (frame.caption.textContent !== said) frame.caption.textContent = said;
    frame.phases?.show(entry.phases, this.placeOf(entry, now));
    return Object.entries(sides).flatMap(([letter, { member }]) => {
      const picture = frame.made[entry.name + letter],
        waits = Boolean(member.meta.waiting?.includes(entry.name));
      picture.node.classList.toggle("fv-waits", waits);
      if (waits) return []; // a preview, of which this is not measured yet
      picture.mark.hidden = !now.b || alone;
      return [{ frame, picture, member, entry, height: 0, most: 0, width: undefined }];
    });
  }

  go(now, dark) {
    const { members, pending, el } = this;
    // ms: two pictures in one frame, where they are drawn in two at most
    const until = performance.now() + (this.printing ? 1e9 : 30);
    while (pending.length) {
      const { frame, picture, member, entry, height, most, width } = pending.shift(),
        at = this.placeOf(entry, now);
      if (
        picture.draw(member, now.n_draws, {
          height,
          most,
          width,
          dark,
          phone: this.layout.narrow,
          ranges: members.ranges(entry),
          transition: this.player.glide,
          at,
        })
      ) {
        picture.light(this.hovered ?? now.picked);
      }
      // a narrow picture has it below
      const [title] = (entry.layout.title?.text ?? "").split("<br>");
      frame.about.firstChild.textContent =
        picture.narrow && title ? `${title}: what is this?` : "What is this?";
      if (picture.print && !frame.caption.textContent.endsWith(picture.print))
        frame.caption.append(picture.print);
      const phase = entry.phases[at]?.[0];
      picture.describe(
        `${member.meta.alts[entry.name]}${phase ? `; ${phase}` : ""}. ${members.sentence({ member, wanted: member.meta.radius, method: member.meta.method }, now.n_draws)}`,
      );
      if (performance.now() > until && pending.length) {
        requestAnimationFrame(() => {
          if (this.pending === pending && !this.stopped) this.go(now, dark);
        });
        return;
      }
    }
    el.dataset.state = `${now.a.method}/${now.a.member.meta.radius}/${now.n_draws}`;
    el.dataset.shown = now.a.member.meta.note ? "preview" : "fitted";
    el.dataset.look = `${this.layout.tabOf(now)}${now.b ? ` | ${now.b.method}/${now.b.member.meta.radius}` : ""}`;
    if (this.hash && !this.stale) {
      // once a drag rests, where nobody changed the address meanwhile
      const before = location.hash;
      this.later(
        "address",
        () => {
          if (location.hash === before) history.replaceState(null, "", this.state.hash);
        },
        100,
      );
    }
    if (this.stale) performance.mark("flatviz-drawn");
    this.stale = false;
    if (members.live) this.later("shot", () => this.photograph(), 1500);
  }

  later(name, act, ms) {
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(act, ms);
  }

  schedule() {
    if (this.waiting || this.stopped) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.stopped) return;
      if (this.el.isConnected) this.draw();
      // JupyterLab attaches a view after it is made, or scrolls it away
      else setTimeout(this.schedule, 100);
    });
  }

  point(kind, d) {
    // a draw that the reader points at, or picks with a click
    const { state } = this;
    if (kind === "click") {
      state.change({ picked: state.all.picked === d ? null : d });
      return;
    }
    if (this.hovered === d) return;
    this.hovered = d;
    this.drawControls(this.current());
    this.mark();
  }

  mark() {
    this.pictures.forEach((p) => p.light(p.plot.clientWidth ? this.lit : null));
  }

  async photograph() {
    // what a notebook without a kernel will show
    if (this.stopped || !this.el.isConnected) return;
    const images = await Promise.all(
      this.shown()
        .slice(0, 2)
        .map(([, , p]) => p.image("png")),
    );
    this.ask("picture", { images, text: this.spoken.innerText });
  }

  // ---------------------------------------------------------------- the world around

  listen() {
    const { el, state, model, article } = this,
      heard = [];
    let width = 0;
    const hear = (target, event, act, how) => {
      target.addEventListener(event, act, how);
      heard.push(() => target.removeEventListener(event, act));
    };
    const traits = ["radius", "n_draws", "method", "look"].map((t) => `change:${t}`);
    for (const trait of traits) model.on(trait, this.schedule);
    const watcher = new ResizeObserver(() => {
      // of a window, or of a panel of JupyterLab
      if (this.stopped || !el.clientWidth) return;
      if (el.clientWidth !== width) {
        width = el.clientWidth;
        this.placed = false;
        this.layout.arrange(this.current());
        this.schedule();
      }
      this.pictures.forEach((p) => p.resize());
      this.mark();
    });
    [el, this.grid].forEach((node) => watcher.observe(node));
    heard.push(
      onThemeChange(this.schedule),
      () => watcher.disconnect(),
      () => traits.forEach((trait) => model.off?.(trait, this.schedule)),
    );
    hear(window, "beforeprint", () => this.print(true));
    hear(window, "afterprint", () => this.print(false));
    hear(window, "resize", this.schedule);
    if (article.story.length) hear(window, "scroll", article.scrolled, { passive: true });
    if (this.hash) {
      hear(window, "hashchange", () => {
        if (location.hash !== state.hash) {
          state.read(location.hash);
          this.placed = false;
        }
      });
      if (location.hash.length > 1) state.read(location.hash);
    }
    this.forget = () => heard.forEach((end) => end());
  }

  print(on) {
    this.printing = on;
    this.el.style.width = on ? "660px" : "";
    this.draw();
    if (on) this.pictures.forEach((p) => p.resize());
  }

  get handle() {
    const of =
        (name) =>
        (...given) =>
          this[name](...given),
      { state } = this;
    return {
      get history() {
        return { past: state.past, start: state.start };
      },
      add: of("add"),
      status: of("status"),
      lost: of("lost"),
      stop: of("stop"),
    };
  }

  // Members fitted since: their records replace or join the others, and figures are as they are
  // with them.
  add(extra) {
    this.members.add(extra);
    for (const changed of extra.index.figures ?? []) {
      // curves, scales and captions, which are of all members
      const entry = Object.assign(
        this.index.figures.find((f) => f.name === changed.name),
        changed,
      );
      const { made } = this.frames.find((f) => f.entries.includes(entry));
      if (changed.data || changed.layout)
        ["A", "B"].forEach((letter) => made[entry.name + letter]?.renew());
    }
    this.schedule();
  }

  // What the kernel does: share done, a line of text, whether it works, an error to be read whole.
  status({ share, text, busy, error }) {
    this.bar.value = share;
    this.said.textContent = text;
    this.button.textContent = busy ? "Stop" : "Run";
    this.bands.disabled = busy;
    this.note.hidden = !error;
    this.note.textContent = error ?? "";
  }

  // The kernel is gone: what was fitted can still be looked at.
  lost(why) {
    this.members.live = false; // nobody fits what is not there
    this.work.hidden = true;
    this.note.hidden = false;
    this.note.textContent = why;
    this.schedule();
  }

  stop() {
    this.stopped = true;
    this.player.halt();
    this.frames.forEach((f) => f.phases?.player.halt());
    Object.values(this.timers).forEach(clearTimeout);
    this.forget();
    this.pictures.forEach((p) => this.Plotly.purge(p.plot));
  }
}
