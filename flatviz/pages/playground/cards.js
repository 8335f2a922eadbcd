// The sequence that carries the finding: a question, the reader's guess, a run, and what came.
import { LENGTH, SEEDS } from "./model.js";
import { lossOf, TEMPERATURES } from "./sweep.js";
import { nameOf } from "./ink.js";
import { EVEN_BY } from "./verdicts.js";

/** @import { Card, End } from "./types.d.ts" */
/** @import { Model } from "./model.js" */

const WARM = 0.3; // the temperature that card 2 gives VI
const ONE = 1; // draws a step, few and many
const MANY = 32;
const HALF = 0.5; // the radius of card 4
const NAMES = Object.freeze({ vi: "VI", sabma: "SA-BMA" });
const YES_NO = [
  ["yes", "Yes"],
  ["no", "No"],
];

/**
 * Both test losses of now, lower first, and which method that is: or "even".
 * @param {Model} model
 */
function result(model) {
  const [first, second] = model.ranking(model.test);
  const even = second.loss - first.loss < EVEN_BY;
  return { first, second, winner: even ? "even" : first.method };
}

/**
 * VI's lowest test loss over the slider's temperatures, and SA-BMA's, each after a whole run.
 * @param {Model} model
 */
function best(model) {
  const fits = TEMPERATURES.map((T) => ({
    T,
    loss: lossOf(model.test, model.whole("vi", model.seed, { T })),
  }));
  const least = fits.reduce((low, one) => (one.loss < low.loss ? one : low));
  return { ...least, rival: lossOf(model.test, model.whole("sabma", model.seed)) };
}

/**
 * How many runs at this number of draws a step end in a place.
 * @param {Model} model
 * @param {End[]} ends
 * @param {number} draws
 */
const inPlace = (model, ends, draws, place = "") =>
  ends.filter((end) => end.draws === draws && model.placeOf(end.q.mean) === place).length;

/**
 * A seed count as the text has it.
 * @param {Model} model
 * @param {End[]} ends
 */
function tellDraws(model, ends) {
  const hollow = [ONE, MANY].map((S) => inPlace(model, ends, S, "narrow hollow"));
  const meadow = [ONE, MANY].map((S) => inPlace(model, ends, S, "wide meadow"));
  return (
    `Radius ${HALF}: with ${ONE} draw a step (filled) ${meadow[0]} of ${SEEDS} runs end in the ` +
    `meadow and ${hollow[0]} in the hollow; with ${MANY} (rings) ${meadow[1]} and ${hollow[1]}. `
  );
}

/** The questions in their order. @type {Card[]} */
export const CARDS = [
  {
    key: "shift",
    title: "Shift",
    view: "grounds",
    ask:
      "Variational inference (VI) lowers the average loss of a cloud of weights, SA-BMA that of the " +
      "worst cloud within the radius. Both train on one ground, are tested on another, moved by " +
      "0.3. Which has the lower test loss?",
    guesses: [...Object.entries(NAMES), ["even", "Equal"]],
    set: {},
    then: {},
    truth: (model) => result(model).winner,
    answer(model) {
      const { first, second, winner } = result(model);
      const places = [...model.runs].map(
        ([method, { learner }]) => `${nameOf(method)} is ${model.whereIs(learner.q.mean)}`,
      );
      const by = `${first.loss.toFixed(2)} to ${second.loss.toFixed(2)}`;
      const who = winner === "even" ? "They are even" : `${nameOf(first.method)} wins`;
      return `${who}: ${by}. ${places.join(", ")}. Try a shift of 0.`;
    },
  },
  {
    key: "temperature",
    title: "Temperature",
    view: "grounds",
    ask:
      "A wide prior keeps a cloud from shrinking, and the temperature T weighs it: the larger T, " +
      "the wider VI's cloud. Up to now both had T = 0.1. Is there a T at which VI has SA-BMA's test loss?",
    guesses: YES_NO,
    set: {},
    then: { viT: WARM },
    truth: (model) => {
      const { loss, rival } = best(model);
      return loss - rival < EVEN_BY ? "yes" : "no";
    },
    answer(model) {
      const { T, loss, rival } = best(model);
      const vi = model.runs.get("vi");
      const where = vi ? model.whereIs(vi.learner.q.mean) : "";
      const gap = loss - rival < EVEN_BY ? "as low as" : "above";
      return (
        `At T = ${model.settings.viT} VI is ${where} too. Its lowest test loss over the slider, ` +
        `${loss.toFixed(2)} at T = ${T}, is ${gap} SA-BMA's ${rival.toFixed(2)}. But this ground ` +
        "was made so that the difference is plain."
      );
    },
  },
  {
    key: "network",
    title: "A trained network",
    view: "frontier",
    ask:
      "A network trained on rotated digits adapts to two upright ones a class; means over 40 " +
      "seeds. At the same temperature SA-BMA (radius 1) is flatter than VI. Is there a T at which " +
      "VI has both its training loss and its curvature λ₁?",
    guesses: YES_NO,
    set: {},
    then: {},
    truth: () => "yes",
    answer: () =>
      "Nearly: the line of VI along its temperature (blue) almost covers that of SA-BMA along its " +
      "radius (green). At equal training loss λ₁ is 0.96 of VI's and the NLL 0.007 lower. Most of " +
      "what the radius does here, a lower temperature does.",
  },
  {
    key: "draws",
    title: "Draws",
    view: "grounds",
    ask:
      "A step averages gradients over S draws from the cloud. The ascent to the worst cloud " +
      "follows " +
      `their noise as well. At radius ${HALF}: with which S does SA-BMA stay out of the hollow more ` +
      "often?",
    guesses: [
      ["one", `S = ${ONE}`],
      ["many", `S = ${MANY}`],
      ["even", "As often"],
    ],
    on: ["sabma"],
    set: { radius: HALF, draws: ONE },
    then: {},
    seeds: [{ draws: ONE }, { draws: MANY }],
    tell: tellDraws,
    counts: (model) =>
      [ONE, MANY].map((S) => ({
        name: `S = ${S}`,
        value: model.ends.length
          ? `${inPlace(model, model.ends, S, "wide meadow")} of ${SEEDS}`
          : "–",
      })),
    truth: (model) => {
      const [one, many] = [ONE, MANY].map((S) => inPlace(model, model.ends, S, "narrow hollow"));
      return one < many ? "one" : one > many ? "many" : "even";
    },
    answer: (model) =>
      tellDraws(model, model.ends) +
      "Few draws widen the cloud as a higher temperature does; with many, SA-BMA falls into the " +
      "hollow as VI does. On the trained network few draws do the reverse: with 1, 8, 128 a step " +
      "the radius is worth VI's T = 0.0137, 0.0211, 0.0237, from 0.03.",
  },
];

/**
 * Whether a card's run has come to its end.
 * @param {Card} card
 * @param {Model} model
 */
export const done = (card, model) =>
  card.view === "frontier" || (card.seeds ? model.ends.length > 0 : model.steps >= LENGTH);
