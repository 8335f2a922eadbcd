// The phases of a step of SA-BMA: the mark that is new in each, and a sentence on it.
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

// What F is in the sentence of the step.
export const FISHER =
  "F: the Fisher matrix of q itself. For a mean it is 1/width², for the logarithm of a " +
  "width 2. The step down is a natural gradient too, damped by the size of the last " +
  "gradients.";
