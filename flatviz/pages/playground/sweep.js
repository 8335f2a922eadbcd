// Many runs of two weights: VI over temperatures beside SA-BMA over radii, VI at the temperature T*
// of equal training loss, and seeds.
import { copyOf, GAUSSIAN, integral } from "./engine.js";
import { colorOf, inks, styleOf, symbol, two, words } from "./ink.js";

/** @import { End, Fit, Loss, Pen, Stand } from "./types.d.ts" */

export const TEMPERATURES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1];
export const RADII = [0, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4];
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
    const ink = inks();
    /** @type {[string, Fit[], (one: Fit) => boolean, string][]} */ const curves = [
      ["vi", this.vi, (one) => one.T === T, "T"],
      ["sabma", this.sabma, (one) => one.radius === radius, "radius"],
    ];
    words(pen, "training loss → against test loss ↑, each after a whole run", 2, 10, {
      color: ink.soft,
      size: 12.5,
      halo: false,
    });
    const at = (/** @type {Fit} */ one) => [one.train, lossOf(test, one)];
    const all = [...this.vi, ...this.sabma].map(at);
    if (!all.length) return;
    const span = (/** @type {number} */ k) => {
      const v = all.map((p) => p[k]);
      const lo = Math.min(...v);
      const hi = Math.max(...v);
      const room = Math.max(0.08 * (hi - lo), 0.02);
      return [lo - room, hi + room];
    };
    const [x, y] = [span(0), span(1)];
    const X = (/** @type {number} */ v) => 44 + ((width - 70) * (v - x[0])) / (x[1] - x[0]);
    const Y = (/** @type {number} */ v) =>
      height - 24 - ((height - 58) * (v - y[0])) / (y[1] - y[0]);
    pen.strokeStyle = ink.line;
    pen.beginPath();
    pen.moveTo(44, 30);
    pen.lineTo(44, height - 20);
    pen.lineTo(width - 4, height - 20);
    pen.stroke();
    x.forEach((end, i) =>
      words(pen, two(end), X(end), height - 9, {
        color: ink.soft,
        size: 12,
        align: i ? "right" : "left",
      }),
    );
    for (const end of y)
      words(pen, two(end), 40, Y(end), { color: ink.soft, size: 12, align: "right" });
    for (const [method, list, here, what] of curves) {
      const color = colorOf(method);
      pen.strokeStyle = pen.fillStyle = color;
      pen.lineWidth = 1.6;
      pen.beginPath();
      for (const one of list) pen.lineTo(X(at(one)[0]), Y(at(one)[1]));
      pen.stroke();
      for (const one of list) {
        const [a, b] = at(one);
        pen.beginPath();
        pen.arc(X(a), Y(b), 2.6, 0, 7);
        pen.fill();
      }
      for (const one of list.filter(here)) {
        const [a, b] = at(one);
        symbol(pen, styleOf(method)[3], X(a), Y(b), 6, color);
      }
      const last = list.at(-1);
      if (last) {
        const [a, b] = at(last);
        words(
          pen,
          `${styleOf(method)[0]}, larger ${what}`,
          Math.min(X(a) + 8, width - 4),
          Y(b) + (Y(b) > height / 2 ? 14 : -12),
          { color, size: 12, align: X(a) > width / 2 ? "right" : "left" },
        );
      }
    }
    if (this.ghost) {
      const [a, b] = at(this.ghost);
      pen.strokeStyle = colorOf("vi");
      pen.setLineDash([2, 3]);
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(X(a), Y(b), 10, 0, 7);
      pen.stroke();
      pen.setLineDash([]);
      words(pen, `T* = ${two(this.ghost.T)}`, X(a) + 14, Y(b) + 4, {
        color: colorOf("vi"),
        size: 12,
      });
    }
  }
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
  rows.forEach(({ method, values: v, where }, /** @type {number} */ k) => {
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
    words(pen, `${styleOf(method)[0]}: ${where}`, width - 4, floor - tall + 10, {
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
