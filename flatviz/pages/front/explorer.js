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
// label, words, ranges, alt texts), `story`, the sections of the article,
// `code`, how Python gets the family, and `config`, plotly's.
// `bundle.buffer` holds the members' records one after the other.  `model` is a widget model, or
// stands in for one: get, set,
// save_changes, on(event, callback), with the traits radius, n_draws, method and look.  `ask(want,
// what)` speaks to a kernel;
// hash: whether the state stands in the address of the page.
// former: `history` of what was shown here before, of the same controls.
import { listen } from "./around.js";
import { buildControls, buildPage, drawControls } from "./bar.js";
import { learnColors } from "./colors.js";
import { draw } from "./drawing.js";
import { Frame, Layout } from "./layout.js";
import { Members } from "./members.js";
import { State } from "./state.js";

export function show(options) {
  return new Explorer(options).handle;
}

/** The page of a family: what it is in, its parts, and what it is doing now. */
export class Explorer {
  // parts, of bar.js
  a;
  b;
  draws;
  drawsText;
  compare;
  player;
  undo;
  copied;
  more;
  bar;
  said;
  button;
  bands;
  work;
  note;
  controls;
  reading;
  readingB;
  spoken;
  names;
  tabs;
  tabButtons;
  grid;
  head;
  stage;
  article;
  // what it is doing
  pending = [];
  hovered = null;
  timers = {};
  waiting = false;
  stopped = false;
  busy = false;
  printing = false;
  placed = false;
  stale = true;
  frames = [];
  forget = () => {};

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
    this.state = new State(model, index, this.schedule, (values) => {
      if (["method", "radius", "compare", "step"].some((name) => name in values))
        this.player.halt();
    });
    if (former) Object.assign(this.state, former); // undo goes on over a family that is sent anew
    buildControls(this);
    buildPage(this);
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
    listen(this);
    this.schedule();
  }

  current() {
    const now = this.state.all;
    const b = now.compare;
    return {
      ...now,
      a: this.members.standing(now.method, now.radius),
      b: b && this.members.standing(b.method, b.radius),
    };
  }

  // ---- pictures in frames: alternatives share one

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
      if (this.el.isConnected) draw(this);
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
    drawControls(this, this.current());
    this.mark();
  }

  mark() {
    this.pictures.forEach((p) => p.light(p.plot.clientWidth ? this.lit : null));
  }

  async photograph() {
    // what a notebook without a kernel will show: nothing rough that is whole soon; JupyterLab
    // detaches a view that is scrolled away
    if (!this.el.isConnected || (this.busy && this.el.dataset.shown === "preview")) {
      this.later("shot", () => this.photograph(), 1500);
      return;
    }
    const images = await Promise.all(
      this.shown()
        .slice(0, 2)
        .map(([, , p]) => p.image("png")),
    );
    // another view, whose picture is newer, may have taken its place meanwhile
    if (!this.stopped) this.ask("picture", { images, text: this.spoken.innerText });
  }

  get handle() {
    const of =
      (name) =>
      (...given) =>
        this[name](...given);
    const { state } = this;
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
    this.busy = busy;
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
    Object.values(this.timers).forEach(clearTimeout);
    this.forget();
    this.pictures.forEach((p) => this.Plotly.purge(p.plot));
  }
}
