// The world of a network: two methods side by side learn the same few points, their predictions,
// scores and loss planes.
import { STILL, button, element } from "../front/elements.js";
import { Random } from "./engine.js";
import { drawTraces } from "./inputs.js";
import { Pane } from "./pane.js";
import { pointsOf } from "./points.js";
import { DATA, GAP_NAME, GRID, HIGH, JOB_MS, LONG, NETS, PLANE, TESTS } from "./settings.js";
import { Board, Clock, Slider, menuOf, styleOf, two } from "./ui.js";

export class NetworkWorld {
  /** @type {any} */
  sliders = {};
  settings;
  label;
  seed;
  frames;
  planes;
  yours;

  constructor(options = {}) {
    const {
      kind = "spiral",
      methods = ["vi", "sabma"],
      planes = true,
      label = "a network",
      settings = {},
    } = options;
    this.kind = kind;
    this.planes = planes;
    this.label = label;
    this.net = "one";
    this.seed = 1;
    this.draws = 10;
    this.steps = 0;
    this.frames = 0;
    this.settings = {
      radius: 2,
      rho: 0.2,
      kappa: 0.1,
      rate: 0.1,
      shots: 20,
      noise: 0.15,
      ...settings,
    };
    this.yours = [];
    this.side = 0;
    this.panes = methods.map((method) => new Pane(this, method));
    this.traces = new Board((pen, w, h) => drawTraces(this, pen, w, h), {
      ratio: 0.16,
      label: "",
      least: planes ? 190 : 110,
      most: 330,
    });
    this.build();
    this.again();
    this.clock = new Clock(this.panes[0].node, (passed) => this.frame(passed));
    if (!STILL.matches && options.autoplay !== false) this.play(true);
  }

  build() {
    const set = (name) => (value, final) => {
      this.settings[name] = value;
      if (final) {
        this.forget();
        this.again();
        this.play(true);
      }
    };
    this.sliders = {};
    const slider = (name, label, stops, say, help) =>
      (this.sliders[name] = new Slider(label, stops, this.settings[name], set(name), {
        say,
        help,
      }).node);
    this.playButton = button("Play", "play or pause", () => this.play(!this.clock.playing), {
      class: "pg-play",
    });
    this.verdict = element("p", { class: "pg-verdict", role: "status" });
    const restart = (change) => (value) => {
      change(value);
      this.forget();
      this.again();
      this.play(true);
    };
    this.node = element(
      "section",
      { class: "pg-network", "aria-label": this.label },
      element("div", { class: "pg-panes" }, ...this.panes.map((pane) => pane.node)),
      element(
        "div",
        { class: "pg-row" },
        this.playButton,
        button("Restart", "the same run from its start", () => {
          this.again();
          this.play(true);
        }),
        button(
          "New seed",
          "other points, other start, other noise; earlier seeds stay as shadows",
          () => {
            for (const pane of this.panes) pane.keep();
            this.seed += 1;
            this.again();
            this.play(true);
          },
        ),
        this.planes
          ? menuOf(
              "data",
              Object.entries(DATA),
              this.kind,
              restart((value) => {
                this.kind = value;
              }),
            )
          : null,
        this.planes
          ? menuOf(
              "a click adds",
              [
                ["0", "a circle"],
                ["1", "a square"],
              ],
              "0",
              (value) => {
                this.side = Number(value);
              },
            )
          : null,
      ),
      element(
        "div",
        { class: "pg-sliders" },
        slider("radius", "radius of SA-BMA", [0, 0.25, 0.5, 0.7, 1, 1.4, 2, 2.8, 4], (x) =>
          x ? `${x} × the width of q` : "0: the same as VI",
        ),
        slider("rho", "radius of SAM", [0, 0.05, 0.1, 0.2, 0.5, 1], (x) => `${x}, a distance`),
        slider(
          "kappa",
          "temperature",
          [0.01, 0.03, 0.1, 0.3, 1],
          (x) => (x === 1 ? "1: Bayes" : `${x}: colder than Bayes`),
          "the weight of KL(q ‖ prior)",
        ),
      ),
      this.verdict,
      this.traces.node,
      element(
        "details",
        { class: "pg-more" },
        element("summary", {}, "More: network, points, rate"),
        menuOf(
          "network",
          Object.entries(NETS).map(([key, [text]]) => [key, text]),
          this.net,
          restart((value) => {
            this.net = value;
          }),
        ),
        element(
          "div",
          { class: "pg-sliders" },
          slider("rate", "learning rate", [0.005, 0.01, 0.02, 0.05, 0.1]),
          slider("shots", "points a class or side", [4, 8, 12, 20, 40, 80]),
          slider("noise", "noise of the points", [0, 0.1, 0.15, 0.2, 0.3, 0.5]),
          new Slider(
            "ensemble",
            [1, 2, 5, 10, 20, 30],
            10,
            (value) => {
              this.draws = value;
              for (const pane of this.panes) pane.refresh(Infinity);
              this.draw();
            },
            { say: (x) => `${x} draw${x > 1 ? "s" : ""}` },
          ).node,
        ),
      ),
    );
  }

  // A point of the reader's, in the class that the menu says; with "your points alone" the others
  // go.
  add(e, canvas) {
    if (this.kind === "gap") return;
    const box = canvas.getBoundingClientRect();
    this.yours.push([
      2.4 * ((2 * (e.clientX - box.left)) / box.width - 1),
      2 * (1 - (2 * (e.clientY - box.top)) / box.height),
      this.side,
    ]);
    this.forget();
    this.again();
    this.play(true);
  }

  // The points of this seed and the reader's; alone where there are two of each class.
  points(n, random) {
    const { kind, settings, yours } = this,
      alone = kind === "none" && [0, 1].every((c) => yours.filter((p) => p[2] === c).length > 1);
    const { x, y, noise } = alone
      ? { x: [], y: [], noise: null }
      : pointsOf(kind === "none" ? "xor" : kind, n, settings.noise, random);
    return kind === "gap"
      ? { x, y, noise }
      : {
          x: Float64Array.from([...x, ...yours.flatMap(([a, b]) => [a, b])]),
          y: [...y, ...yours.map((p) => p[2])],
          noise,
        };
  }

  forget() {
    for (const pane of this.panes) pane.shadows = [];
  }

  again() {
    const { kind, settings, seed } = this,
      n = 2 * settings.shots,
      random = new Random(seed);
    this.steps = 0;
    this.train = this.points(n, random);
    this.test = kind === "none" ? this.train : pointsOf(kind, TESTS, settings.noise, random);
    this.sliders.rho.hidden = this.panes.every((pane) => pane.method !== "sam");
    this.sliders.noise.hidden = kind === "gap";
    this.high = kind === "gap" ? 40 : HIGH;
    this.grid =
      kind === "gap"
        ? Float64Array.from({ length: 121 }, (_, i) => -3 + i / 20)
        : Float64Array.from({ length: 2 * GRID * GRID }, (_, k) => {
            const i = k >> 1;
            return k % 2
              ? 2 * (1 - (2 * Math.floor(i / GRID)) / (GRID - 1))
              : 2.4 * ((2 * (i % GRID)) / (GRID - 1) - 1);
          });
    for (const pane of this.panes) {
      pane.begin();
      pane.curve();
      pane.fill(PLANE);
    }
    this.draw();
  }

  play(on) {
    if (on && this.steps >= LONG) this.again();
    this.clock.play(on);
    this.playButton.textContent = on ? "Pause" : "Play";
    if (!on) {
      for (const pane of this.panes) {
        pane.refresh(Infinity);
        pane.curve();
        pane.fill(PLANE);
        pane.score();
      }
      this.draw();
    }
  }

  advance() {
    this.steps += 1;
    for (const pane of this.panes) if (pane.method !== "hmc" || this.steps % 2) pane.step();
  }

  // Two steps a frame, then of what is seen and measured two jobs, or one where that took long: no
  // frame is late on a slow phone.
  frame(passed) {
    const from = performance.now();
    this.due = Math.min(2, (this.due ?? 0) + passed * 80);
    for (; this.due >= 1; this.due--) this.advance();
    this.frames += 1;
    if (!this.jobs?.length) this.jobs = this.round();
    this.jobs.shift()();
    if (performance.now() - from < JOB_MS) this.jobs.shift()?.();
    this.tell();
    if (this.steps >= LONG) this.play(false);
  }

  // What is done in turn: predictions most often, scores and curves in every fourth round, new
  // directions in every twelfth.
  round() {
    this.rounds = (this.rounds ?? 0) + 1;
    const whole = this.rounds % 4 === 0,
      panes = this.panes.filter((pane) => !pane.lost);
    const of = (pane) => [
      () => pane.refresh(2),
      () => pane.plane.draw(),
      ...(this.planes ? [() => pane.fill(2)] : []),
      ...(whole ? [() => pane.score(), () => pane.loss.draw()] : []),
      ...(this.rounds % 12 === 2 ? [() => pane.curve()] : []),
    ];
    return [...panes.flatMap(of), ...(whole || !panes.length ? [() => this.traces.draw()] : [])];
  }

  recolor() {
    this.draw();
  }

  draw() {
    for (const pane of this.panes) pane.draw();
    this.traces.draw();
    this.tell(true);
  }

  tell(now = this.frames % 30 === 0) {
    if (!now) return;
    const said = this.panes.map((p) => this.readingOf(p));
    this.verdict.textContent = `Step ${this.steps}${this.verdictOf()}`;
    this.panes.forEach((p, i) => {
      p.reading.textContent = said[i];
      p.plane.say(
        `What the ensemble of ${styleOf(p.method)[0]} predicts for ${DATA[this.kind] ?? GAP_NAME}. ${said[i]}.`,
      );
      p.loss.say(
        `Training loss of ${styleOf(p.method)[0]} on the plane of its two sharpest directions, the draws projected onto it.`,
      );
    });
    const named = this.panes.map((p, i) => `${styleOf(p.method)[0]}: ${said[i]}`);
    this.traces.say(`Against steps: ${named.join("; ")}.`);
  }

  // The scores of a pane, beside its menu.
  readingOf(p) {
    if (p.lost) return "diverged";
    const loss = two(p.test.at(-1));
    if (this.kind === "gap") {
      const [gap, points] = [p.unsure.gap, p.unsure.points].map((x) => Number(x.toPrecision(2)));
      return `test NLL ${loss}; spread ${gap} in the gap, ${points} at the points`;
    }
    const right = Math.round(100 * p.right);
    return `test loss ${loss}, ECE ${two(p.ece.at(-1))}, ${right} % right, λ₁ ${two(p.axes[0].value)}`;
  }

  // Whether the flatter of the networks has the lower test loss here.
  verdictOf() {
    const panes = this.panes.filter((p) => !p.lost && Number.isFinite(p.test.at(-1))),
      name = (p) => styleOf(p.method)[0];
    if (this.steps < 200 || this.kind === "gap" || panes.length < 2)
      return this.kind === "none" ? " · tested on the points themselves" : "";
    const least = (value) => panes.reduce((best, p) => (value(p) < value(best) ? p : best)),
      best = least((p) => p.test.at(-1)),
      flat = least((p) => p.lambda.at(-1));
    const sharp = panes.reduce((most, p) => (p.lambda.at(-1) > most.lambda.at(-1) ? p : most));
    return `. ${best === flat ? `${name(best)} is flatter and has the lower test loss.` : `${name(best)} has the lower test loss, though ${best === sharp ? "its mean is the sharpest" : `${name(flat)} is flatter`}: flat is not all that counts.`}`;
  }
}
