// The grounds of two weights: what they are made of, where training starts, and what is known of
// them.
import { groundLoss } from "./engine.js";

/** @import { GroundPlan, Loss, Term } from "./types.d.ts" */

export const WIDE = [-3, 3]; // of the picture, in weights
export const TALL = [-2, 2];
export const PRIOR_STD = 3;

/** The grounds by name. @type {Record<string, GroundPlan>} */
export const GROUNDS = {
  hollow: {
    label: "a narrow hollow before a wide meadow",
    start: [-1.5, 0.3],
    std: 0.3,
    T: 0.1,
    radius: 1,
    rho: 0.5,
    rate: 0.05,
    top: 1.1,
    terms: [
      { kind: "dent", at: [-0.7, 0], depth: 1.1, width: 0.28 },
      { kind: "dent", at: [1.4, 0.1], depth: 1, width: 1.1 },
      { kind: "bowl", at: [1, 0], h: 0.06 },
    ],
    places: [
      ["narrow hollow", [-0.7, 0], 0.5],
      ["wide meadow", [1.4, 0.1], 1.4],
    ],
    about:
      "Both start at the same place with the same noise. VI lowers the loss that it expects " +
      "under q, its cloud of weights; SA-BMA looks for the worst cloud q′ " +
      "within the radius first, and lowers the loss there. The hollow lies on the way to the " +
      "meadow and is a little deeper: this ground was chosen because the difference is plainest" +
      " here.",
  },
  ravine: {
    label: "a bent ravine",
    start: [-1.9, 1.3],
    std: 0.25,
    T: 0.05,
    radius: 1,
    rho: 0.3,
    rate: 0.05,
    top: 3,
    terms: [
      { kind: "valley", k: 5, a: 0.45, b: -1 },
      { kind: "bowl", at: [1.6, 0.2], h: 0.3 },
    ],
    places: [["end of the ravine", [1.6, 0.1], 0.7]],
    about:
      "The ravine leads every method the same way. The radius matters on the way: across the " +
      "ravine steep walls cut the ball short, and q stays narrow there.",
  },
  ridge: {
    label: "a ridge between two valleys",
    start: [-0.05, 1.1],
    std: 0.25,
    T: 0.05,
    radius: 1,
    rho: 0.3,
    rate: 0.05,
    top: 1.6,
    terms: [
      { kind: "dent", at: [0, 0], depth: -1, width: [0.35, 2.5] },
      { kind: "bowl", at: [0, 0], h: 0.16 },
    ],
    places: [
      ["west valley", [-0.8, 0], 0.8],
      ["east valley", [0.8, 0], 0.8],
    ],
    about:
      "The two valleys mirror each other, and q starts on the ridge: noise decides. Press 20 " +
      "seeds and count.",
  },
  plateau: {
    label: "a plateau with one hollow",
    start: [-1.3, 0.5],
    std: 0.35,
    T: 0.05,
    radius: 1,
    rho: 0.5,
    rate: 0.2,
    top: 0.5,
    terms: [
      { kind: "dent", at: [1.1, 0], depth: 1, width: 0.55 },
      { kind: "bowl", at: [0, 0], h: 0.03 },
    ],
    places: [
      ["hollow", [1.1, 0], 0.6],
      ["plateau", [-1, 0], 0.9],
    ],
    about:
      "Where the loss is nearly flat its gradient is nearly zero, and the prior has the say: q " +
      "widens until a draw meets the hollow.",
  },
  modes: {
    label: "two modes: a counter-example",
    start: [-0.5, 0],
    std: 0.5,
    T: 0.1,
    radius: 2,
    rho: 0.5,
    rate: 0.05,
    top: 6,
    terms: [{ kind: "modes", a: [-1.6, 0], b: [1.6, 0], narrow: 0.3, ratio: 3 }],
    places: [
      ["narrow mode", [-1.6, 0], 0.55],
      ["ridge", [-0.6, 0], 0.45],
      ["wide mode", [1.6, 0], 1.3],
    ],
    about:
      "Flatter is not what a large radius always finds. Two modes of equal depth: VI and SA-BMA" +
      " at radius 0.5 reach the wide one from here, at radius 2 most runs do not. " +
      "The ascent carries q′ over the ridge into the other basin, and the gradient there, the " +
      "steeper one, holds q on the ridge. " +
      "The arrows below the section show where each method moves the mean. Press 20 seeds.",
  },
  yours: {
    label: "yours: push it into shape",
    start: [-1.5, 0.6],
    std: 0.3,
    T: 0.1,
    radius: 1,
    rho: 0.5,
    rate: 0.05,
    top: 1.2,
    terms: [{ kind: "bowl", at: [0.6, 0], h: 0.1 }],
    places: [],
    about: "Press on the ground to push it down or up, then play.",
  },
};

const ROWS = 81;
const COLUMNS = 121;

/**
 * The loss of these terms, its lowest value on the picture moved to 0: a loss that a reader
 * compares is not negative.
 * @param {Term[]} terms
 * @returns {Loss}
 */
export function groundFrom(terms) {
  const loss = groundLoss(terms);
  let zero = Infinity;
  for (let i = 0; i < ROWS; i++)
    for (let j = 0; j < COLUMNS; j++) {
      const x = WIDE[0] + ((WIDE[1] - WIDE[0]) * j) / (COLUMNS - 1);
      const y = TALL[0] + ((TALL[1] - TALL[0]) * i) / (ROWS - 1);
      zero = Math.min(zero, loss.both([x, y], null));
    }
  return { dim: 2, both: (w, g) => loss.both(w, g) - zero };
}
