// What the world of two weights says of itself, in sentences made of its own numbers.
import { worstWithin } from "./engine.js";
import { LENGTH, SEEDS } from "./model.js";
import { lossOf } from "./sweep.js";
import { nameOf, two } from "./ink.js";

export const NUDGE = 0.4;
export const EVEN_BY = 0.02; // test losses nearer than this are called even

/** @import { End } from "./types.d.ts" */
/** @import { Model } from "./model.js" */

/** @typedef {{ method: string, loss: number }} Ranked A method's loss */

/**
 * Which of two methods wins, the first of them having the lower loss.
 * @param {Ranked} a
 * @param {Ranked} b
 */
const wins = (a, b) =>
  b.loss - a.loss < EVEN_BY
    ? `${nameOf(a.method)} and ${nameOf(b.method)} are even`
    : `${nameOf(a.method)} wins by ${(b.loss - a.loss).toFixed(2)}`;

/** Which method has the lower test loss, and whether the shift decides it. @param {Model} model */
export function comparison(model) {
  const [first, second] = model.ranking(model.test);
  if (!first) return "";
  if (!second) return `Test loss of ${nameOf(first.method)}: ${first.loss.toFixed(2)}.`;
  const [there, then] = model.ranking(model.loss);
  if (!(model.far + model.bend)) return `Not shifted, ${wins(first, second)}.`;
  const on = model.over || model.ends.length ? "On" : "So far, on";
  return `${on} the test ground ${wins(first, second)}; not shifted, ${wins(there, then)}.`;
}

/** VI at the temperature of equal training loss, once the sweep has it. @param {Model} model */
function atEqualLoss(model) {
  const ghost = model.sweep?.ghost;
  const { viT, radius } = model.settings;
  const mine = model.sweep?.sabma.find((one) => one.radius === radius);
  if (!ghost || !mine) return "";
  const gap = lossOf(model.test, ghost) - lossOf(model.test, mine);
  const than = `${Math.abs(gap).toFixed(2)} ${gap > 0 ? "higher" : "lower"}`;
  return (
    `At T* = ${two(ghost.T)} instead of ${viT}, VI has SA-BMA's training loss, and its test ` +
    `loss is ${Math.abs(gap) < EVEN_BY ? "the same" : than}.`
  );
}

/** Where each method is, and the cost of moving its mean the worst way. @param {Model} model */
export function sentence(model) {
  if (!model.steps) return "Not trained yet.";
  const kept = [...model.runs]
    .filter(([, { lost }]) => !lost)
    .map(([method, { learner }]) => ({
      name: nameOf(method),
      where: model.whereIs(learner.q.mean),
      cost: worstWithin(model.loss, learner.q.mean, NUDGE) - model.loss.both(learner.q.mean, null),
    }));
  const rise = kept.map(({ name, cost }) => `${name} ${cost.toFixed(2)}`).join(", ");
  const parts = [
    kept
      .map(({ name, where }) => where && `${name} is ${where}`)
      .filter(Boolean)
      .join(", ") + ".",
    comparison(model),
    `Moving the mean by ${NUDGE} the worst way raises the loss by: ${rise}.`,
    model.over ? atEqualLoss(model) : "",
  ];
  for (const [method, { lost }] of model.runs)
    if (lost) parts.push(`${nameOf(method)} diverged: lower the learning rate or the radius.`);
  return parts.filter((part) => part && part !== ".").join(" ");
}

/**
 * Where the ends of a method are, in words.
 * @param {Model} model
 * @param {End[]} ends
 */
export const places = (model, ends) =>
  model
    .counted(ends)
    .map(([place, n]) => `${n} ${place}`)
    .join(", ");

/** The sentence about twenty seeds of each method that is on. @param {Model} model */
export function tally(model) {
  const of = (/** @type {string} */ method) =>
    `${nameOf(method)}: ${places(
      model,
      model.ends.filter((end) => end.method === method),
    )}`;
  const all = [...model.on].map(of).join("; ");
  return `${SEEDS} seeds of ${LENGTH} steps. ${all}. ${comparison(model)}`;
}
