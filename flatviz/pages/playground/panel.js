// Every control of the world of two weights, and where it stands.
import { button, counted, element } from "../front/elements.js";
import { GAUSSIAN, METHODS } from "./engine.js";
import { STOPS as KNOWN } from "./frontier.js";
import { GROUNDS } from "./grounds.js";
import { onArrows } from "./hand.js";
import { RADII, TEMPERATURES } from "./sweep.js";
import { colorOf, nameOf, two } from "./ink.js";
import { childrenOf, Menu, Slider } from "./ui.js";

/** @import { Card } from "./types.d.ts" */
/** @import { Board } from "./ui.js" */
/** @import { World } from "./world.js" */

/** @typedef {(value: number) => string} Say */

/** Where the sliders stop, by the name of the setting. @type {Record<string, number[]>} */
export const STOPS = {
  shift: [0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1],
  bend: [0, 0.1, 0.2, 0.4],
  radius: RADII,
  viT: TEMPERATURES,
  T: TEMPERATURES,
  rho: [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2],
  rate: [0.01, 0.02, 0.05, 0.1, 0.2],
  draws: [1, 2, 4, 8, 16, 32],
  ensemble: [1, 2, 5, 10, 20, 30],
};
/** Methods in words. @type {Record<string, string>} */
const EXPANSIONS = {
  gd: "",
  sam: "SAM: sharpness-aware minimisation, lowers the worst loss near one weight vector",
  vi: "VI: variational inference, lowers the average loss under a Gaussian q",
  sabma:
    "SA-BMA: sharpness-aware Bayesian model averaging, lowers the loss of the worst q′ within " +
    "the " +
    "radius of q",
  sgld: "SGLD: Langevin dynamics, gradient steps with noise; its trail samples the posterior",
  hmc: "HMC: Hamiltonian Monte Carlo, a ball rolls over the loss; its stops sample the posterior",
};

/** The controls of the world of two weights. */
export class Panel {
  /** @type {Record<string, Slider>} */
  sliders = {};

  /**
   * @param {World} world
   * @param {boolean} linked whether links and pictures can be made
   */
  constructor(world, linked) {
    this.world = world;
    this.playButton = button("Play", "play or pause", () => world.play(!world.clock.playing), {
      class: "pg-play",
    });
    this.chips = element("div", { class: "pg-chips", role: "group", "aria-label": "methods" });
    this.chips.append(...METHODS.map((method) => this.chip(method)));
    const grounds = Object.entries(GROUNDS).map(([key, { label }]) => [key, label]);
    this.ground = new Menu("ground", grounds, "hollow", (name) => world.choose(name));
    this.tools = this.toggles("what the pointer does", "tool", [
      ["down", "push down"],
      ["up", "push up"],
      ["start", "move q"],
    ]);
    this.sides = this.toggles("which ground is shown", "side", [
      ["training", "training ground"],
      ["test", "test ground"],
    ]);
    this.score = element("div", { class: "pg-score", role: "group", "aria-label": "losses" });
    this.verdict = element("p", { class: "pg-verdict", role: "status" });
    this.about = element("p", { class: "pg-about" });
    this.names = element("p", { class: "pg-about" });
    this.truthButton = button("True posterior", "the posterior, computed on a grid", () => {
      world.truth = !world.truth;
      world.shown(true);
    });
    this.maps = this.grounds();
    this.first = this.firstSliders();
    this.others = this.otherSliders();
    this.found = this.foundSliders();
    this.more = this.folded(linked);
    this.node = this.build();
  }

  /** Both grounds, each of which hears arrow keys. */
  grounds() {
    const { world } = this;
    const { training, testing, model } = world;
    const grip = (
      /** @type {Board} */ board,
      /** @type {string} */ label,
      /** @type {(by: number[]) => void} */ keys,
    ) =>
      element(
        "div",
        {
          class: "pg-grip",
          tabindex: 0,
          role: "group",
          "aria-label": label,
          onkeydown: onArrows(keys),
        },
        board.node,
      );
    const moved = "the training ground; arrow keys move the place where training starts";
    const shifted = "the test ground; arrow keys shift it";
    return element(
      "div",
      { class: "pg-maps", "data-side": "training" },
      grip(training.board, moved, ([dx, dy]) => world.moveStart(dx, dy)),
      grip(testing.board, shifted, (by) => world.moveTest(model.shift.map((v, i) => v + by[i]))),
    );
  }

  /** The sliders below the grounds. */
  firstSliders() {
    const { world } = this;
    const { model } = world;
    const shift = (/** @type {number} */ value) => world.moveTest(model.along(value));
    return element(
      "div",
      { class: "pg-first" },
      this.keep("shift", "shift of the test ground", shift, two),
      this.slider(
        "radius",
        "radius of SA-BMA",
        (x) => (x ? `${x} × the width of q` : "0: as VI"),
        "how far from q SA-BMA looks for the worst posterior, √(2 KL)",
      ),
      this.slider("viT", "temperature of VI", (x) => `T = ${x}`, "the weight of KL(q ‖ prior)"),
    );
  }

  /** The sliders that are folded. */
  otherSliders() {
    const { world } = this;
    const { model } = world;
    const average = (/** @type {number} */ n) => world.average(n);
    const bend = (/** @type {number} */ value) => world.moveTest(model.shift, value);
    return element(
      "div",
      { class: "pg-sliders" },
      this.slider("T", "temperature of the others", (x) => `T = ${x}`),
      this.slider("rho", "radius of SAM", (x) => `${x}, a distance`),
      this.slider("rate", "learning rate"),
      this.keep("ensemble", "ensemble", average, (x) => counted(x, "draw")),
      this.keep("bend", "bend of the test ground", bend),
      this.slider("draws", "draws a step", (x) => `S = ${x}`, "of which a step averages gradients"),
    );
  }

  /** What is folded: methods, settings, seeds, charts. @param {boolean} linked */
  folded(linked) {
    const { world } = this;
    const step = button("Step", "one step of every method", () => {
      world.play(false);
      world.advance(1);
    });
    const seeds = button("20 seeds", "20 runs of each method", () => world.many());
    const link = button("Link", "copy a link to what is shown", () => world.share(link));
    const picture = button("PNG", "save both grounds as a picture", () => world.picture());
    const row = element("div", { class: "pg-row" }, step, seeds, this.truthButton);
    if (linked) row.append(link, picture);
    const charts = [world.section, world.traces, world.chart].map(({ node }) => node);
    return element(
      "details",
      { class: "pg-more" },
      element("summary", {}, "More: methods, settings, seeds"),
      this.verdict,
      row,
      this.chips,
      this.names,
      this.others,
      element("div", { class: "pg-boards" }, ...charts),
      element("div", { class: "pg-under" }, this.ground.node, this.tools, this.about),
    );
  }

  /** All parts of the world. */
  build() {
    const { world } = this;
    const restart = button("Restart", "the same run from its start", () => world.train());
    const help = "other noise; the last runs stay as shadows";
    const reseed = button("New seed", help, () => {
      world.model.seed += 1;
      world.train();
    });
    return element(
      "section",
      { class: "pg-world", "aria-label": "two weights" },
      world.sequence.node,
      this.sides,
      this.maps,
      world.frontier.node,
      this.score,
      this.first,
      this.found,
      element("div", { class: "pg-row pg-run" }, this.playButton, restart, reseed),
      this.more,
    );
  }

  /** A button that shows or hides a method. @param {string} method */
  chip(method) {
    const label = nameOf(method);
    const toggle = () => this.world.toggle(method);
    const chip = button("", `show or hide ${label}`, toggle, { "data-method": method });
    chip.append(element("i", { "aria-hidden": "true" }), label);
    return chip;
  }

  /**
   * A slider of a setting: the runs begin anew with it.
   * @param {string} name
   * @param {string} label
   * @param {Say} say
   */
  slider(name, label, say = String, help = "") {
    const { world } = this;
    const change = (/** @type {number} */ value, /** @type {boolean} */ final) => {
      world.model.settings[name] = value;
      this.side("training");
      if (final) world.train();
      else {
        world.model.rest();
        world.draw();
      }
    };
    return this.keep(name, label, change, say, help);
  }

  /**
   * A slider over the stops of `name`.
   * @param {string} name
   * @param {string} label
   * @param {(value: number, final: boolean) => void} change
   * @param {Say} say
   */
  keep(name, label, change, say = String, help = "") {
    const slider = new Slider(label, STOPS[name], STOPS[name][0], change, { say, help });
    this.sliders[name] = slider;
    return slider.node;
  }

  /**
   * Buttons of which one is pressed.
   * @param {string} label
   * @param {string} name
   * @param {[string, string][]} choices
   */
  toggles(label, name, choices) {
    const { world } = this;
    const press = (/** @type {string} */ key) => {
      if (name === "side") this.side(key);
      else world.tool = key;
      this.tell();
    };
    return element(
      "div",
      { class: `pg-tools pg-${name}s`, role: "group", "aria-label": label },
      ...choices.map(([key, text]) =>
        button(text, text, () => press(key), { [`data-${name}`]: key }),
      ),
    );
  }

  /** The sliders over the fits that the experiment has. */
  foundSliders() {
    const { world } = this;
    /**
     * @param {"radius" | "T"} key
     * @param {string} label
     * @param {(value: number) => string} say
     */
    const of = (key, label, say) =>
      new Slider(
        label,
        KNOWN[key],
        world.frontier[key],
        (value) => {
          world.frontier.show({ [key]: value });
          world.tellScore();
        },
        { say },
      ).node;
    return element(
      "div",
      { class: "pg-first pg-found" },
      of("radius", "radius on the trained network", (x) => (x ? String(x) : "0: as VI")),
      of("T", "temperature on the trained network", (x) => `T = ${x}`),
    );
  }

  /** Which ground a narrow page shows. @param {string} which */
  side(which) {
    this.maps.dataset.side = which;
    for (const one of childrenOf(this.sides))
      one.setAttribute("aria-pressed", String(one.dataset.side === which));
  }

  /** What a card shows. @param {Card} card */
  show(card) {
    const frontier = card.view === "frontier";
    for (const one of [this.maps, this.sides, this.first]) one.hidden = frontier;
    for (const one of [this.world.frontier.node, this.found]) one.hidden = !frontier;
    (card.key === "draws" ? this.first : this.others).append(this.sliders.draws.node);
    this.side("training");
  }

  /** Labels, pressed buttons, and the sliders at the model's settings. */
  tell() {
    const { model, tool, truth } = this.world;
    for (const chip of childrenOf(this.chips)) {
      const { method = "" } = chip.dataset;
      chip.setAttribute("aria-pressed", String(model.on.has(method)));
      chip.style.setProperty("--method", colorOf(method));
    }
    for (const one of childrenOf(this.tools))
      one.setAttribute("aria-pressed", String(one.dataset.tool === tool));
    this.tools.hidden = model.name !== "yours";
    this.truthButton.setAttribute("aria-pressed", String(truth));
    this.ground.select.value = model.name;
    const { sliders } = this;
    for (const [name, value] of Object.entries(model.settings)) sliders[name].value = value;
    sliders.bend.value = model.bend;
    sliders.ensemble.value = model.ensemble;
    sliders.shift.value = model.far;
    sliders.shift.text.textContent = two(model.far); // a hand stops between the stops
    sliders.rho.node.hidden = !model.on.has("sam");
    sliders.radius.node.hidden = !model.on.has("sabma");
    sliders.viT.node.hidden = !model.on.has("vi");
    this.about.textContent = model.world.about;
    const cloud = [...model.on].some((m) => GAUSSIAN[m]) ? "q: a method's cloud of weights" : "";
    const names = [...[...model.on].map((m) => EXPANSIONS[m]), cloud].filter(Boolean);
    this.names.textContent = `${names.join(". ")}.`;
  }
}
