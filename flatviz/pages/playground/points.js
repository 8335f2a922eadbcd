// The points that a network learns.
import { GAP_NOISE, GRID, SPAN } from "./settings.js";

/** @import { Points } from "./types.d.ts" */

/**
 * n points that belong to two classes in turn, with coordinates within about 2; of the regression
 * "gap", inputs and targets.
 * @param {string} kind
 * @param {number} n
 * @param {number} noise
 * @param {import("./random.js").Random} random
 * @returns {Points}
 */
export function pointsOf(kind, n, noise, random) {
  const x = new Float64Array(kind === "gap" ? n : 2 * n);
  const y = kind === "gap" ? new Float64Array(n) : new Int32Array(n);
  for (let i = 0; i < n; i++) {
    const c = i % 2;
    const t = random.uniform();
    const sign = c ? -1 : 1;
    if (kind === "gap") {
      x[i] = c ? -1.8 + 0.8 * t : 0.8 + t;
      y[i] = Math.sin(2.2 * x[i]) + GAP_NOISE * random.normal();
      continue;
    }
    /** @type {Record<string, () => number[]>} */
    const places = {
      moons: () =>
        c
          ? [0.5 - 1.2 * Math.cos(Math.PI * t), 0.35 - 1.2 * Math.sin(Math.PI * t)]
          : [1.2 * Math.cos(Math.PI * t) - 0.5, 1.2 * Math.sin(Math.PI * t) - 0.35],
      circles: () => {
        const r = c ? 0.6 : 1.5;
        return [r * Math.cos(2 * Math.PI * t), r * Math.sin(2 * Math.PI * t)];
      },
      spiral: () => {
        const r = 0.25 + 1.5 * t;
        const angle = 4.2 * t + (c ? Math.PI : 0);
        return [r * Math.cos(angle), r * Math.sin(angle)];
      },
      xor: () => {
        const s = random.uniform() < 0.5 ? 1 : -1;
        return [s * (0.25 + 1.3 * t), s * sign * (0.25 + 1.3 * random.uniform())];
      },
    };
    const [a, b] = places[kind]();
    x[2 * i] = a + noise * random.normal();
    x[2 * i + 1] = b + noise * random.normal();
    y[i] = c;
  }
  return { x, y: Array.from(y), noise: kind === "gap" ? GAP_NOISE : null };
}

const GAP_PLACES = 121; // of the predictions of a regression, from -3 to 3

/**
 * The inputs at which a picture asks for predictions: of classes row by row.
 * @param {string} kind
 */
export function gridOf(kind) {
  if (kind === "gap") return Float64Array.from({ length: GAP_PLACES }, (_, i) => -3 + i / 20);
  return Float64Array.from({ length: 2 * GRID * GRID }, (_, k) => {
    const i = k >> 1;
    return k % 2
      ? SPAN[1] * (1 - (2 * Math.floor(i / GRID)) / (GRID - 1))
      : SPAN[0] * ((2 * (i % GRID)) / (GRID - 1) - 1);
  });
}
