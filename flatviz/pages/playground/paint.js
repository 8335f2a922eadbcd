// The two grounds of the world of two weights, with what stands on them.
import { CHAIN, GAUSSIAN } from "./engine.js";
import { PRIOR_STD, WIDE } from "./grounds.js";
import { Labels } from "./labels.js";
import { NUDGE } from "./verdicts.js";
import { colorOf, inks, nameOf, symbol, symbolOf, two } from "./ink.js";

/** @import { Gaussian, Scale } from "./types.d.ts" */
/** @import { Model } from "./model.js" */
/** @import { Run } from "./run.js" */

const FULL = 2 * Math.PI;

/** One drawing of a ground: a pen, and X and Y from weights to pixels. */
export class Painting {
  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {Scale} X
   * @param {Scale} Y
   * @param {number} unit
   * @param {number} height
   */
  constructor(pen, X, Y, unit, height) {
    this.pen = pen;
    this.X = X;
    this.Y = Y;
    this.unit = unit;
    this.width = unit * (WIDE[1] - WIDE[0]);
    this.height = height;
    this.labels = new Labels(pen, this.width, height);
  }

  /** Write a title. @param {string} text */
  title(text) {
    this.labels.put(text, 10, 16, { weight: 700, size: 14 });
  }

  /** Draw the ellipse of two widths of a Gaussian. @param {Gaussian} q */
  outline({ mean, logStd }, dash = [0]) {
    const { pen, unit } = this;
    const [a, b] = [0, 1].map((i) => 2 * Math.exp(logStd[i]) * unit);
    pen.setLineDash(dash.length > 1 ? dash : []);
    pen.beginPath();
    pen.ellipse(this.X(mean[0]), this.Y(mean[1]), a, b, 0, 0, FULL);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** A Gaussian: an ellipse of two widths. @param {Gaussian} q */
  cloud(q) {
    const { pen } = this;
    pen.lineWidth = 2;
    this.outline(q);
    pen.globalAlpha = 0.16;
    pen.fill();
    pen.globalAlpha = 1;
  }

  /**
   * Draw a point.
   * @param {number} x
   * @param {number} y
   */
  dot(x, y, r = 2.4) {
    this.pen.beginPath();
    this.pen.arc(this.X(x), this.Y(y), r, 0, FULL);
    this.pen.fill();
  }

  /**
   * Draw a line.
   * @param {ArrayLike<number>} from
   * @param {ArrayLike<number>} to
   */
  line(from, to) {
    const { pen, X, Y } = this;
    pen.beginPath();
    pen.moveTo(X(from[0]), Y(from[1]));
    pen.lineTo(X(to[0]), Y(to[1]));
    pen.stroke();
  }

  /**
   * Draw how a run came where it is.
   * @param {ArrayLike<number>[]} trail
   * @param {string} color
   * @param {number} alpha
   */
  trail(trail, color, alpha) {
    const { pen, X, Y } = this;
    pen.globalAlpha = alpha;
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (const at of trail) pen.lineTo(X(at[0]), Y(at[1]));
    pen.stroke();
    const end = trail[trail.length - 1];
    pen.globalAlpha = Math.min(1, 2 * alpha);
    this.dot(end[0], end[1], 3);
    pen.globalAlpha = 1;
  }

  /** Where many seeds ended; whether there are any. @param {Model} model */
  ends(model) {
    const { pen, X, Y } = this;
    pen.globalAlpha = 0.6;
    for (const { method, q, lost, draws } of model.ends) {
      if (lost) continue;
      const [x, y] = [X(q.mean[0]), Y(q.mean[1])];
      if (draws && draws > 1) this.ring(x, y, colorOf(method));
      else symbol(pen, symbolOf(method), x, y, 4.5, colorOf(method));
    }
    pen.globalAlpha = 1;
    return model.ends.length > 0;
  }

  /**
   * Draw a ring.
   * @param {number} x
   * @param {number} y
   * @param {string} color
   */
  ring(x, y, color) {
    const { pen } = this;
    pen.strokeStyle = color;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, 5, 0, FULL);
    pen.stroke();
  }

  /** The names of the places, below them. @param {Model} model */
  places(model, shift = [0, 0]) {
    for (const [name, at, size] of model.world.places) {
      const y = Math.min(this.height - 14, this.Y(at[1] + shift[1] - size) + 6);
      this.labels.put(name, this.X(at[0] + shift[0]), y, { color: inks().soft, align: "center" });
    }
  }

  /**
   * A text beside each mean.
   * @param {Model} model
   * @param {(method: string, run: Run) => string} say
   */
  means(model, say) {
    const shown = [...model.runs].filter(([, run]) => !run.lost);
    const at = (/** @type {Run} */ { learner }) => {
      const [x, y] = learner.q.mean;
      return [this.X(x), this.Y(y)];
    };
    for (const [, run] of shown) {
      const [x, y] = at(run);
      this.labels.avoid(x, y);
    }
    if (shown.length > 3) return;
    for (const [method, run] of shown) {
      const [x, y] = at(run);
      const look = { color: colorOf(method), weight: 700, size: 14 };
      this.labels.put(say(method, run), x + 12, y - 17, look);
    }
  }

  /**
   * Where a run is, how it came there, and its draws.
   * @param {Model} model
   * @param {string} method
   * @param {Run} run
   */
  run(model, method, { learner, trail }) {
    const { pen } = this;
    const color = colorOf(method);
    const { q, last } = learner;
    if (CHAIN[method]) {
      this.trail(trail.slice(-160), color, method === "hmc" ? 0.08 : 0.3);
      if (last && "path" in last && last.path) this.trail(last.path, color, 0.4);
    } else this.trail(trail, color, 0.75);
    pen.fillStyle = pen.strokeStyle = color;
    if (GAUSSIAN[method]) this.cloud(q);
    const there = last && "delta" in last ? last.there : null;
    if (there) this.worst(q, there, color);
    if (last && "e" in last && last.e && !model.over)
      this.ascent(last.from, last.e, model.settings.rho);
    if (GAUSSIAN[method] || CHAIN[method]) {
      pen.fillStyle = color;
      pen.globalAlpha = 0.8;
      for (const w of learner.members(model.ensemble, model.noise)) this.dot(w[0], w[1]);
      pen.globalAlpha = 1;
    }
    symbol(pen, symbolOf(method), this.X(q.mean[0]), this.Y(q.mean[1]), 5.5, color);
  }

  /**
   * SA-BMA's q′, the worst within the radius.
   * @param {Gaussian} q
   * @param {Gaussian} there
   * @param {string} color
   */
  worst(q, there, color) {
    const { pen, X, Y, unit } = this;
    pen.lineWidth = 1.4;
    this.outline(there, [4, 4]);
    this.line(q.mean, there.mean);
    const top = Y(there.mean[1]) - 2 * Math.exp(there.logStd[1]) * unit - 11;
    const text = unit < 80 ? "worst q′" : "q′, worst in the radius";
    this.labels.put(text, X(there.mean[0]), top, { color, size: 12.5, align: "center" });
  }

  /**
   * SAM's ascent.
   * @param {ArrayLike<number>} from
   * @param {ArrayLike<number>} e
   * @param {number} rho
   */
  ascent(from, e, rho) {
    const { pen, X, Y, unit } = this;
    pen.lineWidth = 1.5;
    pen.setLineDash([4, 4]);
    pen.beginPath();
    pen.arc(X(from[0]), Y(from[1]), rho * unit, 0, FULL);
    pen.stroke();
    pen.setLineDash([]);
    this.line(from, [from[0] + e[0], from[1] + e[1]]);
  }
}

/**
 * The training ground: the runs on their way.
 * @param {Painting} painting
 * @param {Model} model
 * @param {import("./ground.js").Ground | null} truth ground that draws the true posterior's mass
 */
export function paintTraining(painting, model, truth) {
  const { pen, labels, width, height, unit } = painting;
  const ink = inks();
  if (truth) truth.drawMass(pen, width, height, model.settings.T, PRIOR_STD);
  for (const [method, trail] of model.shadows) painting.trail(trail, colorOf(method), 0.22);
  painting.title("training ground");
  if (!painting.ends(model)) {
    for (const [method, run] of model.runs) painting.run(model, method, run);
    painting.means(model, (method) => nameOf(method));
  }
  if (truth) {
    const text = "true posterior: 50 % and 95 % of its mass";
    labels.put(text, width - 8, height - 14, { color: ink.truth, weight: 600, align: "right" });
  }
  painting.places(model);
  pen.strokeStyle = ink.soft;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(12, height - 14);
  pen.lineTo(12 + NUDGE * unit, height - 14);
  pen.stroke();
  labels.put(`${NUDGE}`, 18 + NUDGE * unit, height - 14, { color: ink.soft, size: 12.5 });
}

/**
 * The test ground: the same weights, whatever the ground has done since.
 * @param {Painting} painting
 * @param {Model} model
 */
export function paintTesting(painting, model) {
  const { pen, X, Y, labels, height } = painting;
  const ink = inks();
  painting.title("test ground");
  if (model.far > 0.05) {
    const [dx, dy] = model.shift;
    const [x, y] = model.world.places[0]?.[1] ?? [0, 0];
    pen.strokeStyle = pen.fillStyle = ink.soft;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(X(x), Y(y) + 26);
    pen.lineTo(X(x + dx), Y(y + dy) + 26);
    pen.stroke();
    pen.beginPath();
    pen.arc(X(x + dx), Y(y + dy) + 26, 3.5, 0, FULL);
    pen.fill();
    const bent = model.bend ? `, bent by ${model.bend}` : "";
    const text = `moved by ${two(model.far)}${bent}`;
    labels.put(text, 10, height - 14, { color: ink.soft, size: 12.5 });
  }
  if (painting.ends(model)) {
    painting.places(model, model.shift);
    return;
  }
  for (const [method, run] of model.runs) {
    if (run.lost) continue;
    const { q, members } = run.stands[run.stands.length - 1];
    const color = colorOf(method);
    pen.fillStyle = pen.strokeStyle = color;
    if (GAUSSIAN[method]) painting.cloud(q);
    else for (const w of members) painting.dot(w[0], w[1]);
    symbol(pen, symbolOf(method), X(q.mean[0]), Y(q.mean[1]), 5.5, color);
  }
  painting.means(model, (_, run) => run.test[run.test.length - 1].toFixed(2));
  painting.places(model, model.shift);
}
