// One step of SA-BMA at full width, one new object a phase: SVG over the ground, each symbol of the
// sentence linked to its mark.
import { button, element } from "../front/elements.js";
import { isDark } from "../front/colors.js";
import { atRest, viStep, sabmaStep, copyOf, dot, expected, plus } from "./engine.js";
import { drawMarks, SVG } from "./marks.js";
import { FISHER, PHASES } from "./phases.js";
import { Board, colorOf, inks, levelLines, Slider, strokeLines, symbol, two, words } from "./ui.js";

export class StepView {
  /** @type {any} */
  record;
  /** @type {any} */
  relief;
  /** @type {any} */
  settings;
  world;

  constructor(world) {
    this.world = world;
    this.phase = 0;
    this.ground = new Board((pen, w, h) => this.drawGround(pen, w, h), {
      ratio: 0.86,
      label: "",
      least: 260,
      most: 540,
    });
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("aria-hidden", "true");
    this.ground.node.append(this.svg);
    this.profile = new Board((pen, w, h) => this.drawProfile(pen, w, h), {
      ratio: 0.5,
      label: "",
      least: 180,
      most: 260,
    });
    this.sentence = element("p", {
      class: "pg-formula",
      role: "group",
      "aria-label": "objective and step; point at a symbol to see its mark",
    });
    this.text = element("p", { class: "pg-verdict", role: "status" });
    this.slider = new Slider(
      "phase",
      PHASES.map((_, i) => i),
      0,
      (value) => this.go(value),
      { say: (i) => `${i + 1} of ${PHASES.length}` },
    );
    this.budget = element("div", { class: "pg-budget", role: "img" });
    this.node = element(
      "section",
      { class: "pg-step", "aria-label": "one step of SA-BMA" },
      this.ground.node,
      element(
        "div",
        { class: "pg-row" },
        button("Next", "the next phase", () => this.next(), { class: "pg-play" }),
        button("Back", "the phase before", () => this.go(Math.max(0, this.phase - 1))),
        this.slider.node,
      ),
      this.text,
      element(
        "div",
        { class: "pg-below" },
        element("div", {}, this.sentence, this.budget),
        this.profile.node,
      ),
    );
    this.write();
    world.still.push(() => this.take());
    this.node.addEventListener("pointerover", (e) =>
      this.light(e.target.closest?.("[data-s]")?.dataset.s),
    );
    this.node.addEventListener("pointerleave", () => this.light());
    this.node.addEventListener("focusin", (e) => this.light(e.target.dataset?.s));
    this.node.addEventListener("click", (e) => {
      const s = e.target.closest?.(".pg-formula [data-s]")?.dataset.s;
      if (s) {
        this.reveal(s);
        this.light(s);
      }
    });
    this.take();
  }

  // The step that SA-BMA takes next from where it stands in the world above, or from the start.
  take(from) {
    const world = this.world.model;
    const run = world.runs.get("sabma")?.learner ?? world.learner("sabma", world.seed);
    const q = from ?? copyOf(run.q),
      velocity = atRest(2);
    this.prior = run.prior;
    this.settings = {
      ...run.settings,
      radius: world.settings.radius,
      T: world.settings.T,
      rate: world.settings.rate,
    };
    this.loss = world.loss;
    this.noise = world.noise.slice(0, 4);
    this.record = sabmaStep(this.loss, q, velocity, this.prior, this.noise, this.settings);
    this.after = q;
    this.plain = copyOf(this.record.from); // where VI would go with the same draws
    viStep(this.loss, this.plain, atRest(2), this.prior, this.noise, this.settings);
    const { g, delta } = this.record;
    this.slope = delta ? dot(g.mean, delta.mean) + dot(g.logStd, delta.logStd) : 0;
    this.promised = g.value + this.slope;
    this.relief = null;
    this.go(from ? 0 : this.phase);
  }

  next() {
    if (this.phase < PHASES.length - 1) this.go(this.phase + 1);
    else this.take(this.after);
  }

  go(phase) {
    this.phase = this.slider.value = phase;
    this.text.textContent = `${phase + 1}. ${PHASES[phase][1]}`;
    this.recolor();
  }

  recolor() {
    this.ground.draw();
    this.profile.draw();
    this.tellBudget();
    const r = this.record;
    this.profile.say(
      `The loss along the ascent from q${r.there ? `: ${two(r.g.value)} at q, ${two(r.worst.value)} at q′, ${two(this.promised)} by the straight line of slope g` : "; there is none at radius 0"}.`,
    );
    this.ground.say(
      `One step of SA-BMA on the ground. ${this.text.textContent} Loss that q expects ${two(r.g.value)}` +
        (r.there
          ? `, that q′ expects ${two(r.worst.value)}.`
          : "; the radius is 0, so that there is no q′."),
    );
  }

  // ---- the sentence

  write() {
    const s = (key, text) => element("span", { "data-s": key, tabindex: 0, role: "button" }, text);
    this.sentence.append(
      "min over ",
      s("q", "q"),
      " of max over ",
      s("worst", "q′"),
      " in ",
      s("ball", "KL(q′ ‖ q) ≤ radius²/2"),
      " of E",
      element("sub", {}, "q′"),
      "[L] + T ",
      s("move", "KL(q ‖ prior)"),
      element("br"),
      s("worst", "Δ"),
      " = ",
      s("ball", "radius"),
      " · F⁻¹",
      s("g", "g"),
      " / √(",
      s("g", "g"),
      "ᵀF⁻¹",
      s("g", "g"),
      ")",
      element("br"),
      s("worst", "q′"),
      " = ",
      s("q", "q"),
      " + ",
      s("worst", "Δ"),
      ",  ",
      s("there", "g′"),
      " = ",
      s("g", "g"),
      " + ",
      s("diff", "(g′ − g)"),
      element("br"),
      s("q", "q"),
      " ← ",
      s("q", "q"),
      " − ",
      s("move", "rate · F⁻¹(g′ + T ∇KL)"),
      element("small", {}, FISHER),
    );
  }

  reveal(key) {
    const at = PHASES.findIndex(([name]) => name === key);
    if (at > this.phase) this.go(at);
  }

  light(key) {
    this.node.classList.toggle("pg-some", Boolean(key));
    for (const mark of this.node.querySelectorAll("[data-s]"))
      mark.classList.toggle("pg-lit", mark.dataset.s === key);
  }

  tellBudget() {
    const { share, there } = this.record,
      { radius } = this.settings,
      percent = (x) => `${Math.round(100 * x)} %`;
    this.budget.hidden = this.phase < 3 || !there;
    if (this.budget.hidden) return;
    const text = `${percent(share)} of radius² went into the means, ${percent(1 - share)} into the widths: the mean of q′ lies at √${share.toFixed(2)} = ${percent(Math.sqrt(share))} of the way to the edge.`;
    this.budget.setAttribute("aria-label", text);
    this.budget.replaceChildren(
      element(
        "div",
        { class: "pg-bar" },
        element("i", { style: `width:${100 * share}%` }, share > 0.25 ? "means" : ""),
        element("b", { style: `width:${100 * (1 - share)}%` }, share < 0.75 ? "widths" : ""),
      ),
      element("p", {}, `Radius ${radius}. `, text),
    );
  }

  // ---- the picture

  // Weights to pixels: q, the ball and q' fill the box.
  view(width, height) {
    const { from, there } = this.record,
      s = from.logStd.map(Math.exp),
      r = Math.max(2.1, this.settings.radius + 0.3);
    const reach = [0, 1].map(
      (i) =>
        Math.max(
          r * s[i],
          there ? Math.abs(there.mean[i] - from.mean[i]) + 2.1 * Math.exp(there.logStd[i]) : 0,
        ) * 1.12,
    );
    const unit = Math.min(width / 2 / reach[0], height / 2 / reach[1]);
    return {
      unit,
      X: (x) => width / 2 + (x - from.mean[0]) * unit,
      Y: (y) => height / 2 - (y - from.mean[1]) * unit,
      center: from.mean,
    };
  }

  drawGround(pen, width, height) {
    if (!this.record) return;
    const { unit, center } = this.view(width, height),
      ink = inks(),
      columns = 121,
      rows = Math.round((120 * height) / width) + 1;
    const key = [width, height, unit, isDark()].join();
    if (this.relief?.key !== key) {
      const w = new Float64Array(2),
        values = new Float64Array(columns * rows);
      for (let i = 0; i < rows; i++)
        for (let j = 0; j < columns; j++) {
          w[0] = center[0] + ((j / (columns - 1) - 0.5) * width) / unit;
          w[1] = center[1] - ((i / (rows - 1) - 0.5) * height) / unit;
          values[i * columns + j] = this.loss.both(w, null);
        }
      const low = Math.min(...values),
        span = Math.max(1e-9, Math.max(...values) - low);
      this.relief = { key, columns, rows, share: values.map((v) => (v - low) / span) };
    }
    const { share } = this.relief,
      small = element("canvas", { width: columns, height: rows }),
      out = small.getContext("2d"),
      image = out.createImageData(columns, rows);
    share.forEach((v, k) => {
      for (let c = 0; c < 3; c++)
        image.data[4 * k + c] = ink.low[c] + (ink.high[c] - ink.low[c]) * v;
      image.data[4 * k + 3] = 255;
    });
    out.putImageData(image, 0, 0);
    pen.drawImage(small, 0, 0, width, height);
    pen.strokeStyle = isDark() ? "rgba(255,255,255,.14)" : "rgba(60,70,80,.22)";
    pen.lineWidth = 1;
    for (let level = 1; level < 14; level++)
      strokeLines(pen, levelLines(share, rows, columns, level / 14), rows, columns, width, height);
    drawMarks(this, width, height);
  }

  // The loss that q + t Delta expects, and the straight line that the first order promises.
  drawProfile(pen, width, height) {
    if (!this.record) return;
    const ink = inks(),
      { from, delta, g, worst: at } = this.record,
      orange = colorOf("sam");
    words(pen, "loss along the ascent from q (0) to q′ (1)", 2, 10, {
      color: ink.soft,
      size: 12.5,
      halo: false,
    });
    if (!delta) {
      words(pen, "radius 0: no ascent", width / 2, height / 2, { align: "center", halo: false });
      return;
    }
    const along = Array.from({ length: 41 }, (_, i) => (i / 40) * 1.4);
    const values = along.map(
      (t) =>
        expected(
          this.loss,
          { mean: plus(from.mean, delta.mean, t), logStd: plus(from.logStd, delta.logStd, t) },
          this.noise,
        ).value,
    );
    const line = along.map((t) => g.value + t * (this.slope ?? 0)),
      lo = Math.min(...values, ...line),
      hi = Math.max(...values, ...line);
    const X = (t) => 8 + ((width - 70) * t) / 1.4,
      Y = (v) => height - 22 - ((height - 52) * (v - lo)) / Math.max(hi - lo, 1e-9);
    const curve = (ys, color, dash) => {
      pen.beginPath();
      ys.forEach((v, i) => pen.lineTo(X(along[i]), Y(v)));
      pen.strokeStyle = color;
      pen.lineWidth = 2.2;
      pen.setLineDash(dash);
      pen.stroke();
      pen.setLineDash([]);
    };
    curve(line, colorOf("vi"), [4, 5]);
    curve(values, ink.ink, []);
    words(pen, "slope g", X(1.4) + 6, Y(line.at(-1)), { color: colorOf("vi"), size: 12.5 });
    words(
      pen,
      "loss",
      X(1.4) + 6,
      Math.abs(Y(values.at(-1)) - Y(line.at(-1))) < 14
        ? Y(line.at(-1)) + (Y(values.at(-1)) < Y(line.at(-1)) ? -15 : 15)
        : Y(values.at(-1)),
      { size: 12.5 },
    );
    symbol(pen, "circle", X(0), Y(g.value), 5, ink.ink);
    words(pen, two(g.value), X(0) + 4, Y(g.value) + 14, { size: 12.5 });
    if (this.phase < 3) return;
    symbol(pen, "circle", X(1), Y(at.value), 5, orange);
    words(pen, two(at.value), X(1) + 4, Y(at.value) + 14, { size: 12.5, color: orange });
  }
}
