// What the world of a network says of its methods, in sentences made of its own numbers.
import { nameOf, two } from "./ink.js";

/** @import { NetworkWorld } from "./network.js" */
/** @import { Pane } from "./pane.js" */

const EARLY = 200; // steps, before which no method is called better

/** The scores of a pane, beside its menu. @param {Pane} pane */
export function readingOf({ trial, world }) {
  if (trial.lost) return "diverged";
  const last = trial.test.length - 1;
  const loss = two(trial.test[last]);
  if (world.regression) {
    const { gap, points } = trial.unsure;
    const [inside, beside] = [gap, points].map((x) => Number(x.toPrecision(2)));
    return `test NLL ${loss}; spread ${inside} in the gap, ${beside} at the points`;
  }
  const right = Math.round(100 * trial.right);
  const sharp = two(trial.axes[0].value);
  return `test loss ${loss}, ECE ${two(trial.ece[last])}, ${right} % right, λ₁ ${sharp}`;
}

/** Whether the flatter of the networks has the lower test loss here. @param {NetworkWorld} world */
export function verdictOf({ panes, steps, kind, regression }) {
  const scored = panes
    .filter(({ trial }) => !trial.lost)
    .map(({ method, trial }) => ({
      name: nameOf(method),
      loss: trial.test[trial.test.length - 1],
      lambda: trial.lambda[trial.lambda.length - 1],
    }))
    .filter(({ loss }) => Number.isFinite(loss));
  if (steps < EARLY || regression || scored.length < 2)
    return kind === "none" ? " · tested on the points themselves" : "";
  const best = scored.reduce((low, one) => (one.loss < low.loss ? one : low));
  const flat = scored.reduce((low, one) => (one.lambda < low.lambda ? one : low));
  const sharp = scored.reduce((high, one) => (one.lambda > high.lambda ? one : high));
  if (best === flat) return `. ${best.name} is flatter and has the lower test loss.`;
  const but = best === sharp ? "its mean is the sharpest" : `${flat.name} is flatter`;
  return `. ${best.name} has the lower test loss, though ${but}: flat is not all that counts.`;
}
