// ---- the bar above the pictures: controls, tabs, what is read
import { menu, Player, Side } from "./controls.js";
import { button, counted, element } from "./elements.js";
import { codeOf, Copied, film, save } from "./film.js";
import { ALL } from "./state.js";

/** @import { Now, Standing, Status } from "./types.d.ts" */
/** @import { Explorer } from "./explorer.js" */

/** @type {Record<string, number>} */
const TURNS = { ArrowRight: 1, ArrowLeft: -1 };

/** What the kernel does, and buttons that ask it for more. */
export class Work {
  busy = false;

  /** @param {Explorer} page */
  constructor({ ask, index, members }) {
    this.progress = element("progress", {
      max: 1,
      value: 0,
      "aria-label": "share of the fit that is done",
    });
    this.said = element("span", { role: "status" });
    this.button = button("Stop", "stop or start fitting", () =>
      ask?.(this.button.textContent === "Stop" ? "stop" : "run"),
    );
    const help = "fit every member again with two more seeds, behind the picture";
    this.bands = button("Bands over seeds", help, () => ask?.("seeds"));
    this.bands.hidden = index.seeds !== 1; // one seed: what looks like a trend may be noise
    const parts = [this.button, this.progress, this.said, this.bands];
    this.node = element("div", { class: "fv-work" }, ...parts);
    this.node.hidden = !members.live;
    this.note = element("div", { class: "fv-note", role: "alert", hidden: "" });
  }

  /** Show what the kernel does. @param {Status} status */
  show({ share, text, busy, error }) {
    this.busy = busy;
    this.progress.value = share;
    this.said.textContent = text;
    this.button.textContent = busy ? "Stop" : "Run";
    this.bands.disabled = busy;
    this.note.hidden = !error;
    this.note.textContent = error ?? "";
  }

  /** Show that the kernel is gone. @param {string} why */
  lost(why) {
    this.node.hidden = true;
    this.note.hidden = false;
    this.note.textContent = why;
  }
}

/** The controls, tabs and sentences above the pictures. */
export class Bar {
  /** @param {Explorer} page */
  constructor(page) {
    this.page = page;
    const { state, index, members } = page;
    this.a = new Side("", (values) => state.change(values));
    this.b = new Side("B", (values) => {
      const { method, wanted: radius } = this.b;
      state.change({ compare: { method, radius, ...values } });
    });
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
    const help = "two states side by side, on the same scales";
    this.compare = button("Compare", help, () => {
      const { a, b } = page.current();
      const other = members.methods.find((m) => m === "vi" && m !== a.method) ?? a.method;
      const [radius] = members.stops(other);
      state.change({ compare: b ? null : { method: other, radius } });
    });
    const play = "go through the fitted radii of this method";
    this.player = new Player((first) => this.playRadius(first), play);
    this.undo = button("Undo", "take the last change back", () => state.undo());
    this.copied = new Copied();
    this.work = new Work(page);
    this.reading = element("p", { class: "fv-reading" });
    this.readingB = element("p", { class: "fv-reading", hidden: "" });
    this.spoken = element("div", { "aria-live": "polite" }, this.reading, this.readingB);
    const groups = [...new Set(index.figures.map(({ group }) => group))];
    this.names = groups.length > 1 ? [...groups, ALL] : groups; // of the tabs
    this.panel = `fv-panel-${Math.random().toString(36).slice(2)}`;
    this.tabButtons = this.names.map((name) => {
      const look = { type: "button", role: "tab", "aria-controls": this.panel };
      return element("button", { ...look, onclick: () => state.change({ tab: name }) }, name);
    });
    this.tabs = this.tabList();
    this.node = this.build();
  }

  /** What the tabs stand in; arrow keys go from one to the next. */
  tabList() {
    const { names, page, tabButtons } = this;
    const look = { class: "fv-tabs", role: "tablist", "aria-label": "views" };
    const tabs = element("div", look, ...tabButtons);
    tabs.addEventListener("keydown", (e) => {
      const turn = TURNS[e.key];
      if (!turn) return;
      const { state, layout } = page;
      const i = (names.indexOf(layout.tabOf(state.all)) + turn + names.length) % names.length;
      state.change({ tab: names[i] });
      tabButtons[i].focus();
    });
    tabs.hidden = names.length < 2;
    return tabs;
  }

  /** All parts of the bar. */
  build() {
    const draws = element(
      "label",
      {},
      element("span", {}, "ensemble size"),
      this.draws,
      this.drawsText,
    );
    const controls = element(
      "div",
      { class: "fv-controls", role: "group", "aria-label": "controls" },
      this.a.node,
      draws,
      this.b.node,
    );
    const buttons = element(
      "div",
      { class: "fv-buttons", role: "group", "aria-label": "actions" },
      this.player.button,
      this.compare,
      this.undo,
      this.menu(),
    );
    return element(
      "div",
      { class: "fv-bar" },
      controls,
      this.work.node,
      this.work.note,
      this.spoken,
      element("div", { class: "fv-strip" }, this.tabs, buttons),
    );
  }

  /** The menu of what is done with the pictures. */
  menu() {
    const { page, copied } = this;
    const { state, index, members, hash, el } = page;
    /** @type {[text: string, act: () => void][]} */
    const acts = [
      ["Reset", () => state.reset()],
      ["Copy as code", () => copied.take(codeOf(page.shown(), index, state.all), "code")],
    ];
    const link = () => new URL(state.hash, location.href).href;
    if (hash) acts.push(["Copy link", () => copied.take(link(), "link")]);
    acts.push(["Save as SVG", () => save(page.shown(), "svg")]);
    acts.push(["Save as PNG", () => save(page.shown(), "png")]);
    const record = () => {
      const { member } = page.current().a;
      const radii = members.fitted(member.meta.method);
      film({ el, state, member, radii, shown: () => page.shown() });
    };
    if (globalThis.MediaRecorder) acts.push(["Save film of the radius", record]);
    return menu("Menu", acts);
  }

  /**
   * To the next radius, from 0 on where it stands at the largest; whether there is one.
   * @param {boolean} first
   */
  playRadius(first) {
    const { state, members } = this.page;
    const { method, member } = this.page.current().a;
    const radii = members.fitted(method);
    const next = radii.find((r) => r > member.meta.radius);
    const radius = next ?? (first ? radii[0] : undefined);
    if (radius === undefined || radii.length < 2) return false;
    if (first) state.past.push(state.all); // one step of undo, however far it plays
    state.put({ ...state.all, radius });
    return true;
  }

  /** Show this state. @param {Now} now */
  show(now) {
    const { page, draws, drawsText } = this;
    const { a, b, n_draws: n, compare } = now;
    const { members, layout, state, el } = page;
    const { offered } = members;
    this.a.show(a.method, now.radius, offered, layout.narrow);
    this.a.letter.textContent = b ? "A" : "";
    this.b.node.hidden = !b;
    if (b && compare) this.b.show(b.method, compare.radius, offered, layout.narrow);
    draws.value = String(n);
    // a point is every ensemble
    draws.disabled = [a, b].every((side) => !side || side.member.meta.n_draws === 1);
    drawsText.textContent = draws.disabled ? "one point" : counted(n, "draw");
    draws.setAttribute("aria-valuetext", drawsText.textContent);
    this.compare.setAttribute("aria-pressed", String(Boolean(b)));
    this.compare.textContent = b ? "One state" : "Compare";
    this.undo.disabled = !state.past.length;
    this.player.button.disabled = members.of(a.method).length < 2;
    this.reading.replaceChildren(...this.about(now, a, "A"));
    this.readingB.hidden = !b;
    if (b) this.readingB.replaceChildren(...this.about(now, b, "B"));
    const tab = layout.tabOf(now);
    const drawn = page.frames.some(
      (frame) => layout.inTab(frame, tab) && Object.keys(frame.entry(now.chosen).link).length > 0,
    );
    el.classList.toggle("fv-drawn", drawn);
    this.tabButtons.forEach((button, i) => {
      const here = this.names[i] === tab;
      button.setAttribute("aria-selected", String(here));
      button.tabIndex = here ? 0 : -1;
    });
  }

  /**
   * What is read of a state.
   * @param {Now} now
   * @param {Standing} side
   * @param {string} letter
   */
  about(now, side, letter) {
    const { members, layout, hovered } = this.page;
    const n = now.n_draws;
    const draw = hovered ?? now.picked;
    const brief = layout.narrow && layout.reads(now);
    const said = brief ? members.numbers(side, n) : members.sentence(side, n);
    const marked = draw === null ? "" : members.aboutDraw(side, draw);
    return [(now.b ? `${letter}: ` : "") + said, element("span", { class: "fv-draw" }, marked)];
  }
}
