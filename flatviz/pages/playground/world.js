// The world of two weights on a page: its model, the cards above it, grounds, controls and charts.
import { download, element, penOf, STILL } from "../front/elements.js";
import { drawEnds, drawSection, drawTraces } from "./charts.js";
import { CARDS } from "./cards.js";
import { Frontier } from "./frontier.js";
import { Ground } from "./ground.js";
import { onTesting, onTraining } from "./hand.js";
import { LENGTH, Model, SHIFT } from "./model.js";
import { Painting, paintTesting, paintTraining } from "./paint.js";
import { Panel, STOPS } from "./panel.js";
import { scoreOf } from "./score.js";
import { Sequence } from "./sequence.js";
import { two } from "./ink.js";
import { Board, Clock } from "./ui.js";
import { comparison, sentence, tally } from "./verdicts.js";

/** @import { Card, Draw, End, Options } from "./types.d.ts" */

const PER_SECOND = 150; // steps while it plays
const AT_MOST = 6; // steps a frame
const COPIED_MS = 2000;

/** The world of two weights: a model that trains, and all that shows and controls it. */
export class World {
  tool = "start";
  truth = false;
  due = 0;
  frames = 0;
  /** @type {((world: World) => void)[]} */
  still = []; // hear that a run rests

  /** @param {Options} options */
  constructor(options = {}) {
    this.model = new Model(() => this.shown(true));
    const painted = (/** @type {(p: Painting) => void} */ paint) =>
      new Ground((pen, X, Y, unit, height) => paint(new Painting(pen, X, Y, unit, height)));
    this.training = painted((p) => paintTraining(p, this.model, this.truth ? this.training : null));
    this.testing = painted((p) => paintTesting(p, this.model));
    const chart = (
      /** @type {(model: Model, ...given: Parameters<Draw>) => void} */ draw,
      ratio = 0.8,
    ) =>
      new Board((pen, w, h) => draw(this.model, pen, w, h), {
        ratio,
        label: "",
        least: 230,
        most: 300,
      });
    this.section = chart(drawSection, 0.56);
    this.traces = chart(drawTraces);
    this.chart = chart(drawEnds);
    this.frontier = new Frontier();
    this.sequence = new Sequence(this);
    this.panel = new Panel(this, options.link !== false);
    this.node = this.panel.node;
    onTraining(this);
    onTesting(this);
    this.lay();
    if (options.link !== false) this.read(new URLSearchParams(location.search));
    this.clock = new Clock(this.training.board.node, (passed) => this.frame(passed));
    this.sequence.show();
    this.begin(CARDS[0], false);
  }

  /** Which ground a narrow page shows. @param {string} which */
  side(which) {
    this.panel.side(which);
  }

  /** A card's world, at rest. @param {Card} card */
  begin(card, anew = true) {
    const frontier = card.view === "frontier";
    this.play(false);
    this.panel.show(card);
    if (anew && !frontier) {
      this.model.seed = 1;
      this.model.on = new Set(card.on ?? ["vi", "sabma"]);
      this.model.choose("hollow");
      Object.assign(this.model.settings, card.set);
      this.model.moveTest([SHIFT, 0], 0);
      this.lay();
    }
    if (frontier) this.frontier.show({ open: false, radius: 1 });
    this.again(false);
  }

  /** What a guess sets off. @param {Card} card */
  run(card) {
    if (card.view === "frontier") this.frontier.show({ open: true });
    else if (card.seeds) {
      const tell = (/** @type {End[]} */ ends) => card.tell?.(this.model, ends) ?? "";
      this.model.many(["sabma"], tell, card.seeds);
    } else {
      Object.assign(this.model.settings, card.then);
      this.train();
    }
    this.tell();
  }

  /** To another ground. @param {string} name */
  choose(name) {
    this.model.choose(name);
    this.lay();
    this.train();
  }

  /** Lay both grounds anew, and move the sliders to the model. */
  lay() {
    const { model } = this;
    this.training.lay(model.loss, model.world.top);
    this.testing.lay(model.test, model.world.top);
    this.tool = model.name === "yours" ? "down" : "start";
  }

  /** Take what a link says. @param {URLSearchParams} said */
  read(said) {
    if (!said.size) return;
    this.model.read(said, STOPS);
    this.lay();
  }

  /** Move and bend the test ground. @param {number[]} shift */
  moveTest(shift, bend = this.model.bend) {
    this.model.moveTest(shift, bend);
    this.testing.lay(this.model.test, this.model.world.top);
    this.side("test");
    this.shown(true);
  }

  /**
   * Move the place where training starts.
   * @param {number} dx
   * @param {number} dy
   */
  moveStart(dx, dy) {
    this.play(false);
    const { start } = this.model;
    if (this.tool === "start") this.model.start = [start[0] + dx, start[1] + dy];
    this.again(false);
  }

  /** Average the predictions of n draws. @param {number} n */
  average(n) {
    this.model.ensemble = n;
    this.shown(true);
  }

  /** Switch a method on or off; one stays on. @param {string} method */
  toggle(method) {
    const { on } = this.model;
    if (on.has(method) && on.size === 1) return;
    if (on.has(method)) on.delete(method);
    else on.add(method);
    this.train();
  }

  // ---- running

  /** Play or rest. @param {boolean} on */
  play(on) {
    if (on && this.model.over) this.model.rest();
    this.clock?.play(on);
    this.panel.playButton.textContent = on ? "Pause" : "Play";
    this.tell();
    if (on) return;
    for (const listener of this.still) listener(this);
    if (this.model.over) this.model.compareT();
  }

  /** From the start with the settings of now; where motion is not wanted, at once. */
  train() {
    this.again();
    if (STILL.matches) {
      this.model.advance(LENGTH);
      this.play(false);
      this.shown(true);
    } else this.play(true);
  }

  /** Back to the start. */
  again(keep = true) {
    this.model.rest(keep);
    this.training.density = null;
    this.shown(true);
    for (const listener of this.still) listener(this);
  }

  /** Take n steps of every method. @param {number} n */
  advance(n) {
    this.model.advance(n);
    this.shown();
  }

  /** Take the steps of a frame. @param {number} passed */
  frame(passed) {
    this.due += passed * PER_SECOND;
    const n = Math.min(AT_MOST, Math.floor(this.due));
    this.due = Math.min(1, this.due - n);
    if (n) this.advance(n);
    if (this.model.over) {
      this.play(false);
      this.shown(true);
    }
  }

  /** Run many seeds of each method. */
  many() {
    this.play(false);
    this.model.many([...this.model.on], () => tally(this.model));
    this.shown(true);
  }

  // ---- showing

  /** Draw in the colours of another theme. */
  recolor() {
    this.tell();
    this.draw(true);
    this.frontier.board.draw();
  }

  /** While it plays, what changes slowly is drawn in every third or sixth frame. */
  draw(all = !this.clock?.playing) {
    this.frames += 1;
    this.training.board.draw();
    this.testing.board.draw();
    if (!this.panel.more.open) return;
    if (all || this.frames % 3 === 1) this.section.draw();
    if (all || this.frames % 6 === 0) {
      this.traces.draw();
      this.chart.draw();
    }
  }

  /** now: say it in this frame too, for it does not follow from the steps. */
  shown(now = false) {
    const { model } = this;
    this.draw();
    if (!this.clock?.playing) this.tell();
    if (now || model.steps % 4 === 0) this.tellScore();
    if (!(now || !this.clock?.playing || model.steps % 12 === 0)) return;
    const text = model.tally || sentence(model);
    this.panel.verdict.textContent = text;
    this.training.board.say(`${model.world.label}, seen from above. ${text}`);
    const moved = `the training ground shifted by ${two(model.far)}`;
    const bent = model.bend ? ` and bent by ${model.bend}` : "";
    this.testing.board.say(`The test ground: ${moved}${bent}. ${comparison(model)}`);
    this.section.say("Section of the ground through a mean, with the posteriors above it.");
    this.traces.say(`Training loss, test loss, λ₁ and KL against steps. ${text}`);
    this.chart.say(`After a run: test losses over temperature, radius or seeds. ${text}`);
    this.sequence.tell();
  }

  /** Set labels and sliders. */
  tell() {
    this.panel.tell();
  }

  /** The numbers under the grounds. */
  tellScore() {
    this.panel.score.replaceChildren(...scoreOf(this));
  }

  // ---- a link, and a picture

  /**
   * Put the state into the address, and a link to it into the clipboard.
   * @param {HTMLElement} pressed
   */
  share(pressed) {
    const link = new URL(`?${this.model.query}`, location.href).href;
    history.replaceState(null, "", `?${this.model.query}${location.hash}`);
    const say = (/** @type {string} */ text) => {
      pressed.textContent = text;
    };
    const copy = navigator.clipboard?.writeText(link);
    Promise.resolve(copy).then(
      () => say("Copied"),
      () => say("In the address"),
    );
    setTimeout(() => say("Link"), COPIED_MS);
  }

  /** Both grounds side by side, or the one that is shown. */
  picture() {
    const boards = [this.training.board, this.testing.board].map(({ canvas }) => canvas);
    const shown = boards.filter((canvas) => canvas.checkVisibility());
    const width = shown.reduce((sum, canvas) => sum + canvas.width, 0);
    const whole = element("canvas", { width, height: shown[0].height });
    let left = 0;
    for (const canvas of shown) {
      penOf(whole).drawImage(canvas, left, 0);
      left += canvas.width;
    }
    download(whole.toDataURL("image/png"), `flatviz-${this.model.name}.png`);
  }
}
