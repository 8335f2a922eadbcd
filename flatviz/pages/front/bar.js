// ---- the bar above the pictures: controls, tabs, what is read
import { button, counted, element } from "./elements.js";
import { Article } from "./article.js";
import { menu, Player, Side } from "./controls.js";
import { codeOf, Copied, film, save } from "./film.js";
import { keepKeys } from "./keys.js";
import { ALL } from "./state.js";
import STYLE from "./style.css";

export function buildControls(page) {
  const { state, index, members, hash, ask } = page;
  page.a = new Side("", (v) => state.change(v));
  page.b = new Side("B", (v) =>
    state.change({ compare: { method: page.b.method, radius: page.b.wanted, ...v } }),
  );
  page.draws = element("input", {
    type: "range",
    class: "fv-draws",
    min: 1,
    max: index.n_max,
    step: 1,
    "aria-label": "ensemble size",
  });
  page.drawsText = element("output");
  page.draws.addEventListener("input", () => state.change({ n_draws: Number(page.draws.value) }));
  page.compare = button("Compare", "two states side by side, on the same scales", () => {
    const now = page.current();
    const other = members.methods.find((m) => m === "vi" && m !== now.a.method) ?? now.a.method;
    state.change({ compare: now.b ? null : { method: other, radius: members.stops(other)[0] } });
  });
  page.player = new Player(
    (first) => playRadius(page, first),
    "go through the fitted radii of this method",
  );
  page.undo = button("Undo", "take the last change back", () => state.undo());
  page.copied = new Copied();
  page.more = menu("Menu", [
    ["Reset", () => state.reset()],
    ["Copy as code", () => page.copied.take(codeOf(page.shown(), index, state.all), "code")],
    ...(hash
      ? [["Copy link", () => page.copied.take(new URL(state.hash, location.href).href, "link")]]
      : []),
    ["Save as SVG", () => save(page.shown(), "svg")],
    ["Save as PNG", () => save(page.shown(), "png")],
    ...(globalThis.MediaRecorder
      ? [
          [
            "Save film of the radius",
            () => {
              const { member } = page.current().a;
              film({
                el: page.el,
                state,
                member,
                radii: members.fitted(member.meta.method),
                shown: () => page.shown(),
              });
            },
          ],
        ]
      : []),
  ]);
  page.bar = element("progress", {
    max: 1,
    value: 0,
    "aria-label": "share of the fit that is done",
  });
  page.said = element("span", { role: "status" });
  page.button = button("Stop", "stop or start fitting", () =>
    ask?.(page.button.textContent === "Stop" ? "stop" : "run"),
  );
  page.bands = button(
    "Bands over seeds",
    "fit every member again with two more seeds, behind the picture",
    () => ask?.("seeds"),
  );
  page.bands.hidden = index.seeds !== 1; // one seed: what looks like a trend may be noise
  page.work = element("div", { class: "fv-work" }, page.button, page.bar, page.said, page.bands);
  page.work.hidden = !members.live;
  page.note = element("div", { class: "fv-note", role: "alert", hidden: "" });
}

export function playRadius(page, first) {
  // from radius 0 on where it stands at the largest
  const {
    a: { method, member },
  } = page.current();
  const { radius: at } = member.meta;
  const radii = page.members.fitted(method);
  const radius = radii.find((r) => r > at) ?? (first ? radii[0] : undefined);
  if (radius === undefined || radii.length < 2) return false;
  if (first) page.state.past.push(page.state.all); // one step of undo, however far it plays
  page.state.put({ ...page.state.all, radius });
  return true;
}

export function buildPage(page) {
  const { el, index, state } = page;
  const groups = [...new Set(index.figures.map((f) => f.group))];
  page.controls = element(
    "div",
    { class: "fv-controls", role: "group", "aria-label": "controls" },
    page.a.node,
    element("label", {}, element("span", {}, "ensemble size"), page.draws, page.drawsText),
    page.b.node,
  );
  const buttons = element(
    "div",
    { class: "fv-buttons", role: "group", "aria-label": "actions" },
    page.player.button,
    page.compare,
    page.undo,
    page.more,
  );
  page.reading = element("p", { class: "fv-reading" });
  page.readingB = element("p", { class: "fv-reading", hidden: "" });
  page.spoken = element("div", { "aria-live": "polite" }, page.reading, page.readingB);
  page.names = groups.length > 1 ? [...groups, ALL] : groups;
  const panel = `fv-panel-${Math.random().toString(36).slice(2)}`;
  page.tabs = tabList(page, panel);
  page.grid = element("div", {
    class: "fv-figures",
    role: "tabpanel",
    id: panel,
    "aria-label": "pictures",
    tabindex: 0,
  });
  page.head = element(
    "div",
    { class: "fv-bar" },
    page.controls,
    page.work,
    page.note,
    page.spoken,
    element("div", { class: "fv-strip" }, page.tabs, buttons),
  );
  page.stage = element("div", { class: "fv-stage" }, page.head, page.copied.node, page.grid);
  // not before the page is scrolled to where its state says
  page.article = new Article(index.story ?? [], {
    el,
    stage: page.stage,
    state,
    resting: () => page.stopped || page.printing || !page.placed,
  });
  el.classList.add("flatviz");
  keepKeys(el);
  el.replaceChildren(
    element("style", {}, STYLE),
    element("div", { class: "fv-body" }, page.article.node, page.stage),
  );
}

export function tabList(page, panel) {
  const { names, state } = page;
  const tabs = element("div", { class: "fv-tabs", role: "tablist", "aria-label": "views" });
  page.tabButtons = names.map((name) => {
    const tab = element("button", { type: "button", role: "tab", "aria-controls": panel }, name);
    tab.addEventListener("click", () => state.change({ tab: name }));
    return tab;
  });
  tabs.append(...page.tabButtons);
  tabs.addEventListener("keydown", (e) => {
    const turn = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!turn) return;
    const i = (names.indexOf(page.layout.tabOf(state.all)) + turn + names.length) % names.length;
    state.change({ tab: names[i] });
    page.tabButtons[i].focus();
  });
  tabs.hidden = names.length < 2;
  return tabs;
}

export function drawControls(page, now) {
  const { a: first, b: second, n_draws: n } = now;
  const { members, draws, drawsText, layout } = page;
  const { offered } = members;
  const { narrow } = layout;
  page.a.show(first.method, now.radius, offered, narrow);
  page.a.letter.textContent = second ? "A" : "";
  page.b.node.hidden = !second;
  if (second) page.b.show(second.method, now.compare.radius, offered, narrow);
  draws.value = n;
  // a point is every ensemble
  draws.disabled = [first, second].every((s) => !s || s.member.meta.n_draws === 1);
  drawsText.textContent = draws.disabled ? "one point" : counted(n, "draw");
  draws.setAttribute("aria-valuetext", drawsText.textContent);
  page.compare.setAttribute("aria-pressed", Boolean(second));
  page.compare.textContent = second ? "One state" : "Compare";
  page.undo.disabled = !page.state.past.length;
  page.player.button.disabled = members.of(first.method).length < 2;
  const d = page.hovered ?? now.picked;
  const brief = narrow && layout.reads(now);
  const about = (s, letter) => [
    (second ? `${letter}: ` : "") + (brief ? members.numbers(s, n) : members.sentence(s, n)),
    element("span", { class: "fv-draw" }, d === null ? "" : members.aboutDraw(s, d)),
  ];
  page.reading.replaceChildren(...about(first, "A"));
  page.readingB.hidden = !second;
  if (second) page.readingB.replaceChildren(...about(second, "B"));
  const tab = layout.tabOf(now);
  page.el.classList.toggle(
    "fv-drawn",
    page.frames.some(
      (f) => layout.inTab(f, tab) && Object.keys(f.entry(now.chosen).link).length > 0,
    ),
  );
  page.tabButtons.forEach((t, i) => {
    t.setAttribute("aria-selected", page.names[i] === tab);
    t.tabIndex = page.names[i] === tab ? 0 : -1;
  });
}
