// The one front end of flatviz: the page of `flatviz tour` holds it, the lab loads it once a page.
// types.d.ts says what a bundle is, and what a model and a kernel are asked.
import { listen } from "./around.js";
import { Article } from "./article.js";
import { Bar } from "./bar.js";
import { learnColors } from "./colors.js";
import { draw } from "./drawing.js";
import { element } from "./elements.js";
import { Frame } from "./frames.js";
import { keepKeys } from "./keys.js";
import { Layout } from "./layout.js";
import { Members } from "./members.js";
import { State } from "./state.js";
import STYLE from "./style.css";

/** @import { Controls, Entry, Extra, Now, Options, Shown, Status, Tools } from "./types.d.ts" */
/** @import { Pending } from "./drawing.js" */

const FRAME_MS = 100; // until a page that is not attached is looked at again
const SHOT_MS = 1500; // and until a picture is kept

/**
 * Show the figures of a family and their controls. Returns what the page of a notebook asks of
 * them.
 * @param {Options} options
 */
export function show(options) {
  return new Explorer(options).handle;
}

/** The page of a family: what it is in, its parts, and what it is doing now. */
export class Explorer {
  /** @type {Frame[]} */
  frames = [];
  /** @type {Pending[]} */
  pending = []; // pictures that are still to be drawn
  /** @type {number | null} */
  hovered = null; // the draw under the pointer
  /** @type {Record<string, number>} */
  timers = {};
  waiting = false; // for the next frame of the browser
  stopped = false;
  printing = false;
  placed = false; // scrolled to where the state says
  stale = true; // not all drawn yet
  forget = () => {};

  /** @param {Options} options */
  constructor({ Plotly, model, el, bundle, ask = null, hash = false, former = null }) {
    const { index } = bundle;
    learnColors(index.dark);
    this.Plotly = Plotly;
    this.model = model;
    this.el = el;
    this.index = index;
    this.ask = ask;
    this.hash = hash;
    this.schedule = this.schedule.bind(this); // once a frame, with the newest values
    this.members = new Members(bundle, Boolean(index.live && ask));
    this.state = new State(model, index, this.schedule, (values) => this.halt(values));
    if (former) {
      // undo goes on over a family that is sent anew
      this.state.past = former.past;
      this.state.start = former.start;
    }
    this.bar = new Bar(this);
    this.grid = element("div", {
      class: "fv-figures",
      role: "tabpanel",
      id: this.bar.panel,
      "aria-label": "pictures",
      tabindex: 0,
    });
    const parts = [this.bar.node, this.bar.copied.node, this.grid];
    this.stage = element("div", { class: "fv-stage" }, ...parts);
    // not before the page is scrolled to where its state says
    const resting = () => this.stopped || this.printing || !this.placed;
    const { stage, state } = this;
    this.article = new Article(index.story ?? [], { el, stage, state, resting });
    el.classList.add("flatviz");
    keepKeys(el);
    const body = element("div", { class: "fv-body" }, this.article.node, this.stage);
    el.replaceChildren(element("style", {}, STYLE), body);
    for (const entry of index.figures) this.place(entry);
    for (const frame of this.frames) frame.offer(() => this.state.all.chosen);
    this.layout = new Layout(this);
    listen(this);
    this.schedule();
  }

  /** Halt the player where the reader changes what it plays. @param {Partial<Controls>} values */
  halt(values) {
    const played = ["method", "radius", "compare", "step"];
    if (played.some((name) => name in values)) this.bar.player.halt();
  }

  /** The state, with the members that it shows. @returns {Now} */
  current() {
    const now = this.state.all;
    const { compare } = now;
    return {
      ...now,
      a: this.members.standing(now.method, now.radius),
      b: compare && this.members.standing(compare.method, compare.radius),
    };
  }

  // ---- pictures in frames

  /** What pictures take from the page. @returns {Tools} */
  get tools() {
    const { Plotly, index, members, state } = this;
    return {
      Plotly,
      index,
      members: members.list,
      point: (kind, d) => this.point(kind, d),
      choose: (slot, option) => this.choose(slot, option),
      chosen: () => state.all.chosen,
      redraw: this.schedule,
      replace: (picture) => picture.light(this.lit),
    };
  }

  /** The draw that is marked, or null. */
  get lit() {
    return this.hovered ?? this.state.all.picked;
  }

  /**
   * Choose an alternative.
   * @param {string} slot
   * @param {string} option
   */
  choose(slot, option) {
    this.state.change({ chosen: { ...this.state.all.chosen, [slot]: option } });
  }

  /** Give a figure its frame: alternatives share one. @param {Entry} entry */
  place(entry) {
    const { slot, group } = entry;
    const known = slot
      ? this.frames.find((frame) => frame.slot === slot && frame.group === group)
      : null;
    const frame = known ?? new Frame(entry, (option) => this.choose(slot, option));
    if (!known) {
      this.grid.append(frame.node);
      this.frames.push(frame);
    }
    frame.add(entry);
  }

  /** Every picture that was made. */
  get pictures() {
    return this.frames.flatMap((frame) => Object.values(frame.made));
  }

  /** All that is in sight. @returns {Shown[]} */
  shown() {
    const { chosen } = this.state.all;
    return this.frames
      .filter(({ node }) => !node.hidden)
      .flatMap((frame) => {
        const entry = frame.entry(chosen);
        /** @type {Shown[]} */
        const both = ["A", "B"].map((letter) => [letter, entry, frame.made[entry.name + letter]]);
        return both.filter(([, , picture]) => picture?.node.isConnected && picture.state);
      });
  }

  /**
   * Do it after a time in which nobody asks for it again.
   * @param {string} name
   * @param {() => void} act
   * @param {number} ms
   */
  later(name, act, ms) {
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(act, ms);
  }

  /** Draw in the next frame of the browser. */
  schedule() {
    if (this.waiting || this.stopped) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.stopped) return;
      if (this.el.isConnected) draw(this);
      // JupyterLab attaches a view after it is made, or scrolls it away
      else setTimeout(this.schedule, FRAME_MS);
    });
  }

  /**
   * Take a draw that the reader points at, or picks with a click.
   * @param {"hover" | "click"} kind
   * @param {number | null} d
   */
  point(kind, d) {
    const { state } = this;
    if (kind === "click") {
      state.change({ picked: state.all.picked === d ? null : d });
      return;
    }
    if (this.hovered === d) return;
    this.hovered = d;
    this.bar.show(this.current());
    this.mark();
  }

  /** Mark the draw in every picture that is in sight. */
  mark() {
    for (const picture of this.pictures) picture.light(picture.plot.clientWidth ? this.lit : null);
  }

  /** Keep what a notebook without a kernel will show: nothing rough that is whole soon. */
  async photograph() {
    const { el, bar } = this;
    // JupyterLab detaches a view that is scrolled away
    if (!el.isConnected || (bar.work.busy && el.dataset.shown === "preview")) {
      this.later("shot", () => this.photograph(), SHOT_MS);
      return;
    }
    const shown = this.shown().slice(0, 2);
    const images = await Promise.all(shown.map(([, , picture]) => picture.image("png")));
    // another view, whose picture is newer, may have taken its place meanwhile
    if (!this.stopped) this.ask?.("picture", { images, text: bar.spoken.innerText });
  }

  // ---- what a notebook's page asks

  /** The verbs of `show`. */
  get handle() {
    const { state } = this;
    return {
      get history() {
        return { past: state.past, start: state.start };
      },
      add: (/** @type {Extra} */ extra) => this.add(extra),
      status: (/** @type {Status} */ status) => this.bar.work.show(status),
      lost: (/** @type {string} */ why) => this.lost(why),
      stop: () => this.stop(),
    };
  }

  /**
   * Take members fitted since: their records replace or join the others, and figures are as they
   * are with them.
   * @param {Extra} extra
   */
  add(extra) {
    this.members.add(extra);
    for (const changed of extra.index.figures ?? []) {
      // curves, scales and captions, which are of all members
      const entry = this.index.figures.find(({ name }) => name === changed.name);
      const frame = this.frames.find(({ entries }) => entries.some((one) => one === entry));
      if (!entry || !frame) continue;
      Object.assign(entry, changed);
      if (!changed.data && !changed.layout) continue;
      for (const letter of ["A", "B"]) frame.made[entry.name + letter]?.renew();
    }
    this.schedule();
  }

  /** The kernel is gone: what was fitted can still be looked at. @param {string} why */
  lost(why) {
    this.members.live = false; // nobody fits what is not there
    this.bar.work.lost(why);
    this.schedule();
  }

  /** Stop for good. */
  stop() {
    this.stopped = true;
    this.bar.player.halt();
    Object.values(this.timers).forEach(clearTimeout);
    this.forget();
    for (const { plot } of this.pictures) this.Plotly.purge(plot);
  }
}
