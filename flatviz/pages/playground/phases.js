// The words of a step of SA-BMA: its formula, its phases, and the mark that is new in each.
import { element } from "../front/elements.js";

/** Each phase: the symbol of its mark, and a sentence. @type {[symbol: string, text: string][]} */
export const PHASES = [
  [
    "q",
    "The posterior q: a mean, and a width for each weight. The dots are the four draws of this " +
      "step.",
  ],
  [
    "g",
    "g: which way the loss that q expects rises fastest, for the mean. It has a part for the " +
      "widths too.",
  ],
  [
    "ball",
    "The ball: as far as the mean could go, were the whole radius spent on it. It is measured " +
      "in widths of q, so it is as oblong as q, whose ellipse is drawn at two widths.",
  ],
  [
    "worst",
    "Ascend by Δ to q′, the worst posterior in the ball to first order. The bar shows how the " +
      "radius was spent: what the widths took, the mean did not get.",
  ],
  ["there", "g′: the gradient at q′, with the same four draws of noise."],
  [
    "diff",
    "g′ − g: all that tells SA-BMA from VI. It points where the slope grows, so stepping " +
      "against it leads away from curvature.",
  ],
  [
    "move",
    "Step back to q and descend against g′ and the pull of the prior. The arrow is drawn at its" +
      " true length; the thin blue one is the step of VI.",
  ],
];

const FISHER =
  "F: the Fisher matrix of q itself. For a mean it is 1/width², for the logarithm of a " +
  "width 2. The step down is a natural gradient too, damped by the size of the last " +
  "gradients.";

// The objective and the step: [symbol, text] where there is a mark, ["", text] for an index, "" for
// a new line.
/** @type {(string | [symbol: string, text: string])[]} */
const FORMULA = [
  "min over ",
  ["q", "q"],
  " of max over ",
  ["worst", "q′"],
  " in ",
  ["ball", "KL(q′ ‖ q) ≤ radius²/2"],
  " of E",
  ["", "q′"],
  "[L] + T ",
  ["move", "KL(q ‖ prior)"],
  "",
  ["worst", "Δ"],
  " = ",
  ["ball", "radius"],
  " · F⁻¹",
  ["g", "g"],
  " / √(",
  ["g", "g"],
  "ᵀF⁻¹",
  ["g", "g"],
  ")",
  "",
  ["worst", "q′"],
  " = ",
  ["q", "q"],
  " + ",
  ["worst", "Δ"],
  ",  ",
  ["there", "g′"],
  " = ",
  ["g", "g"],
  " + ",
  ["diff", "(g′ − g)"],
  "",
  ["q", "q"],
  " ← ",
  ["q", "q"],
  " − ",
  ["move", "rate · F⁻¹(g′ + T ∇KL)"],
];

/** The objective and the step as a sentence, each symbol linked to its mark. */
export function formulaOfStep() {
  const parts = FORMULA.map((part) => {
    if (typeof part === "string") return part || element("br");
    const [symbol, text] = part;
    if (!symbol) return element("sub", {}, text);
    return element("span", { "data-s": symbol, tabindex: 0, role: "button" }, text);
  });
  const label = "objective and step; point at a symbol to see its mark";
  const attributes = { class: "pg-formula", role: "group", "aria-label": label };
  return element("p", attributes, ...parts, element("small", {}, FISHER));
}
