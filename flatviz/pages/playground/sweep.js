// Many runs of two weights: VI over temperatures beside SA-BMA over radii, VI at the temperature T*
// of equal training loss, and seeds.
import { copyOf, GAUSSIAN, integral } from "./engine.js";
import { colorOf, inks, nameOf, symbol, symbolOf, two, words } from "./ink.js";

/** @import { End, Fit, Look, Loss, Pen, Scale, Stand } from "./types.d.ts" */

export const TEMPERATURES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1];
export const RADII = [0, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4];
const FULL = 2 * Math.PI;
const AT_ONCE_MS = 12;
const HALVINGS = 6;

/**
 * The loss that q expects, or that the members of a chain have on average.
 * @param {Loss} loss
 * @param {{ method: string } & Stand} end
 */
export function lossOf(loss, { method, q, members }) {
  if (GAUSSIAN[method]) return integral(loss, q);
  return members.reduce((sum, w) => sum + loss.both(w, null), 0) / members.length;
}

/**
 * Where a learner stands, as `lossOf` and the pictures read it.
 * @param {string} method
 * @param {import("./learner.js").Learner} learner
 * @returns {End}
 */
export const standing = (method, learner, more = {}) => ({
  method,
  q: copyOf(learner.q),
  members: learner.members(40, []),
  lost: !learner.finite,
  ...more,
});

/**
 * Do the jobs in turns of a few milliseconds, so that the page stays quick, and then `done`.
 * Returns what gives them up.
 * @param {(() => void)[]} jobs
 * @param {() => void} done
 */
export function inTurns(jobs, done) {
  let stopped = false;
  const turn = () => {
    const until = performance.now() + AT_ONCE_MS;
    while (!stopped && jobs.length && performance.now() < until) jobs.shift()?.();
    if (stopped) return;
    if (jobs.length) setTimeout(turn);
    else done();
  };
  setTimeout(turn);
  return () => {
    stopped = true;
  };
}

/**
 * VI over temperatures and SA-BMA over radii, and T*: where VI has the training loss of SA-BMA at
 * the radius of now.
 */
export class Sweep {
  /**
   * @param {Loss} loss
   * @param {(method: string, at: { T: number, radius: number }) => End} fit
   * @param {{ T: number, radius: number }} now
   * @param {() => void} done
   */
  constructor(loss, fit, { T, radius }, done) {
    this.loss = loss;
    /** @type {Fit[]} */
    this.vi = [];
    /** @type {Fit[]} */
    this.sabma = [];
    /** @type {Fit | null} */
    this.ghost = null;
    /**
     * @param {Fit[]} list
     * @param {{ T: number, radius: number }} at
     */
    const add = (list, at) => () => {
      const one = fit(list === this.vi ? "vi" : "sabma", at);
      if (!one.lost) list.push({ ...one, ...at, train: lossOf(loss, one) });
    };
    const jobs = [
      ...TEMPERATURES.map((t) => add(this.vi, { T: t, radius: 0 })),
      ...RADII.map((r) => add(this.sabma, { T, radius: r })),
    ];
    this.stop = inTurns(jobs, () => {
      this.ghost = this.find(
        this.sabma.find((one) => one.radius === radius),
        fit,
      );
      done();
    });
  }

  /**
   * VI at the temperature of this training loss, by halving the interval of log T at whose ends
   * VI's training loss lies below and above; null where no two of them do.
   * @param {Fit | undefined} wanted
   * @param {(method: string, at: { T: number, radius: number }) => End} fit
   */
  find(wanted, fit) {
    if (!wanted) return null;
    const above = (/** @type {Fit} */ one) => one.train - wanted.train;
    const at = this.vi.findIndex((one, i) => i && above(one) * above(this.vi[i - 1]) <= 0);
    if (at < 1) return null;
    let [low, high] = [this.vi[at - 1], this.vi[at]];
    for (let i = 0; i < HALVINGS; i++) {
      const T = Math.sqrt(low.T * high.T);
      const one = fit("vi", { T, radius: 0 });
      const middle = { ...one, T, radius: 0, train: lossOf(this.loss, one) };
      if (above(middle) * above(low) <= 0) high = middle;
      else low = middle;
    }
    return Math.abs(above(high)) < Math.abs(above(low)) ? high : low;
  }

  /**
   * Draw training loss against test loss: VI's curve over T, SA-BMA's over the radius, the ring of
   * VI at T*.
   * @param {Pen} pen
   * @param {number} width
   * @param {number} height
   * @param {Loss} test
   * @param {{ T: number, radius: number }} now
   */
  draw(pen, width, height, test, { T, radius }) {
    const title = "training loss → against test loss ↑, each after a whole run";
    words(pen, title, 2, 10, { color: inks().soft, size: 12.5, halo: false });
    const tested = (/** @type {Fit} */ one) => lossOf(test, one);
    const all = [...this.vi, ...this.sabma];
    if (!all.length) return;
    const across = spanOf(all.map(({ train }) => train));
    const up = spanOf(all.map(tested));
    const X = (/** @type {number} */ v) =>
      44 + ((width - 70) * (v - across[0])) / (across[1] - across[0]);
    const Y = (/** @type {number} */ v) =>
      height - 24 - ((height - 58) * (v - up[0])) / (up[1] - up[0]);
    const place = (/** @type {Fit} */ one) => ({ x: X(one.train), y: Y(tested(one)) });
    drawAxes(pen, width, height, { X, Y, across, up });
    /** @type {[method: string, fits: Fit[], here: (one: Fit) => boolean, what: string][]} */
    const curves = [
      ["vi", this.vi, (one) => one.T === T, "T"],
      ["sabma", this.sabma, (one) => one.radius === radius, "radius"],
    ];
    for (const [method, fits, here, what] of curves) {
      drawCurve(pen, method, fits.map(place), fits.filter(here).map(place));
      const last = fits[fits.length - 1];
      if (!last) continue;
      const { x, y } = place(last);
      const align = x > width / 2 ? "right" : "left";
      const text = `${nameOf(method)}, larger ${what}`;
      const below = y + (y > height / 2 ? 14 : -12);
      const look = {
        color: colorOf(method),
        size: 12,
        align: /** @type {Look["align"]} */ (align),
      };
      words(pen, text, Math.min(x + 8, width - 4), below, look);
    }
    if (this.ghost) drawGhost(pen, place(this.ghost), this.ghost.T);
  }
}

/** @typedef {{ x: number, y: number }} At In px */

/** The least and the largest value, with room at both ends. @param {number[]} values */
function spanOf(values) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max(0.08 * (high - low), 0.02);
  return [low - room, high + room];
}

/**
 * Draw two axes with the values at their ends.
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 * @param {{ X: Scale, Y: Scale, across: number[], up: number[] }} axes
 */
function drawAxes(pen, width, height, { X, Y, across, up }) {
  const ink = inks();
  pen.strokeStyle = ink.line;
  pen.beginPath();
  pen.moveTo(44, 30);
  pen.lineTo(44, height - 20);
  pen.lineTo(width - 4, height - 20);
  pen.stroke();
  /** @type {Look} */
  const look = { color: ink.soft, size: 12 };
  const [left, right] = across;
  words(pen, two(left), X(left), height - 9, look);
  words(pen, two(right), X(right), height - 9, { ...look, align: "right" });
  for (const end of up) words(pen, two(end), 40, Y(end), { ...look, align: "right" });
}

/**
 * Draw a method's fits as a curve, those of now by its symbol.
 * @param {Pen} pen
 * @param {string} method
 * @param {At[]} fits
 * @param {At[]} here
 */
function drawCurve(pen, method, fits, here) {
  const color = colorOf(method);
  pen.strokeStyle = color;
  pen.fillStyle = color;
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const { x, y } of fits) pen.lineTo(x, y);
  pen.stroke();
  for (const { x, y } of fits) {
    pen.beginPath();
    pen.arc(x, y, 2.6, 0, FULL);
    pen.fill();
  }
  for (const { x, y } of here) symbol(pen, symbolOf(method), x, y, 6, color);
}

/**
 * Draw the ring of VI at the temperature T*.
 * @param {Pen} pen
 * @param {At} at
 * @param {number} T
 */
function drawGhost(pen, { x, y }, T) {
  const color = colorOf("vi");
  pen.strokeStyle = color;
  pen.setLineDash([2, 3]);
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, 10, 0, FULL);
  pen.stroke();
  pen.setLineDash([]);
  words(pen, `T* = ${two(T)}`, x + 14, y + 4, { color, size: 12 });
}

/**
 * Draw how the test loss of many seeds is spread: a row a method, a block a seed.
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 * @param {{ method: string, where: string, values: number[] }[]} rows
 */
export function histogram(pen, width, height, rows) {
  const ink = inks();
  const values = rows.flatMap(({ values: v }) => v).filter(Number.isFinite);
  const low = Math.min(...values);
  const high = Math.max(...values, low + 0.05);
  const BINS = Math.max(12, Math.round(width / 22));
  const X = (/** @type {number} */ bin) => 4 + (bin * (width - 8)) / BINS;
  const tall = (height - 44) / rows.length;
  const wide = (width - 8) / BINS - 2;
  words(pen, `test loss of ${rows[0].values.length} seeds, a block each`, 2, 10, {
    color: ink.soft,
    size: 12.5,
    halo: false,
  });
  rows.forEach(({ method, values: v, where }, k) => {
    const counts = new Array(BINS).fill(0);
    const floor = 26 + (k + 1) * tall;
    v.filter(Number.isFinite).forEach((value) => {
      counts[Math.min(BINS - 1, Math.floor(((value - low) / (high - low)) * BINS))] += 1;
    });
    const each = Math.min(9, (tall - 18) / Math.max(...counts, 1));
    pen.fillStyle = colorOf(method);
    counts.forEach((n, bin) => {
      for (let i = 0; i < n; i++) pen.fillRect(X(bin), floor - (i + 1) * each, wide, each - 1);
    });
    words(pen, `${nameOf(method)}: ${where}`, width - 4, floor - tall + 10, {
      color: colorOf(method),
      size: 12,
      align: "right",
    });
    pen.fillStyle = ink.line;
    pen.fillRect(4, floor, width - 8, 1);
  });
  [low, high].forEach((end, i) =>
    words(pen, two(end), i ? width - 4 : 4, height - 8, {
      color: ink.soft,
      size: 12,
      align: i ? "right" : "left",
    }),
  );
}
