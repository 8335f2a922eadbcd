// The world of two weights without its picture, and the questions that are asked of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CARDS } from "../../flatviz/pages/playground/cards.js";
import { FINDING } from "../../flatviz/pages/playground/finding.js";
import { rowOf, STOPS } from "../../flatviz/pages/playground/frontier.js";
import { groundFrom, GROUNDS } from "../../flatviz/pages/playground/grounds.js";
import { free, overlap } from "../../flatviz/pages/playground/labels.js";
import { LENGTH, Model, SEEDS } from "../../flatviz/pages/playground/model.js";
import { comparison } from "../../flatviz/pages/playground/verdicts.js";

globalThis.METHOD_STYLES = { vi: ["VI"], sabma: ["SA-BMA"] };
const STOPS_OF_LINKS = { bend: [0, 0.2], radius: [1, 2], rho: [0.5], T: [0.1], viT: [0.1, 0.3] };
Object.assign(STOPS_OF_LINKS, { rate: [0.05], draws: [4] });

/** A model whose run is over. */
function trained(settings = {}) {
  const model = new Model();
  Object.assign(model.settings, settings);
  model.rest(false);
  model.advance(LENGTH);
  return model;
}

const placeOf = (model, method) => model.placeOf(model.runs.get(method).learner.q.mean);
const winner = (model) => model.ranking(model.test)[0].method;

test("shifted, SA-BMA in the meadow wins; not shifted, VI in the hollow", () => {
  const model = trained();
  assert.equal(placeOf(model, "vi"), "narrow hollow");
  assert.equal(placeOf(model, "sabma"), "wide meadow");
  assert.equal(winner(model), "sabma");
  assert.match(comparison(model), /^On the test ground SA-BMA wins by .*; not shifted, VI wins/);
  model.moveTest([0, 0]);
  assert.equal(winner(model), "vi");
});

test("VI's temperature moves VI alone", () => {
  const cold = trained();
  const warm = trained({ viT: 0.3 });
  assert.equal(placeOf(warm, "vi"), "wide meadow");
  assert.deepEqual(warm.runs.get("sabma").trail, cold.runs.get("sabma").trail);
});

test("no loss on a picture is negative, and the lowest is nearly 0", () => {
  for (const { terms } of Object.values(GROUNDS)) {
    const loss = groundFrom(terms);
    const lowest = Array.from({ length: 240 * 160 }, (_, k) =>
      loss.both([-3 + (6 * (k % 240)) / 239, -2 + (4 * Math.floor(k / 240)) / 159], null),
    ).reduce((a, b) => Math.min(a, b));
    // the grid of the picture is coarser than this one: a valley lies between its points
    assert.ok(Math.abs(lowest) < 0.03, `${lowest}`);
  }
});

test("a link brings the state back, and what it cannot say is left out", () => {
  const model = trained({ viT: 0.3 });
  model.moveTest([0.2, 0.1], 0.2);
  const again = new Model();
  again.read(model.query, STOPS_OF_LINKS);
  assert.equal(String(again.query), String(model.query));
  const hostile = new Model();
  hostile.read(
    new URLSearchParams("ground=constructor&on=,x&viT=7&shift=a,b&seed=-"),
    STOPS_OF_LINKS,
  );
  assert.equal(String(hostile.query), String(new Model().query));
});

test("at radius 0.5 one draw a step stays out of the hollow more often than 32 do", async () => {
  const card = CARDS.find(({ key }) => key === "draws");
  const model = new Model();
  Object.assign(model.settings, card.set);
  await new Promise((done) => {
    model.changed = done;
    model.many(["sabma"], (ends) => card.tell(model, ends), card.seeds);
  });
  const inHollow = (draws) =>
    model.ends.filter(
      (end) => end.draws === draws && model.placeOf(end.q.mean) === "narrow hollow",
    );
  assert.equal(inHollow(32).length, SEEDS);
  assert.ok(inHollow(1).length <= SEEDS - 8);
  assert.equal(card.truth(model), "one");
  assert.ok(card.answer(model).includes(`${inHollow(1).length} in the hollow`));
});

test("the answers say what the runs of their questions came to", () => {
  const [shift, temperature] = CARDS;
  assert.equal(shift.truth(trained()), "sabma");
  assert.match(shift.answer(trained()), /SA-BMA wins: 0\.\d\d to 0\.\d\d/);
  const warm = trained(temperature.then);
  assert.equal(temperature.truth(warm), "no");
  assert.match(temperature.answer(warm), /in the wide meadow too/);
});

test("every stop of the trained network's sliders is a fit, and radius 0 is VI", () => {
  for (const T of STOPS.T) assert.equal(rowOf("vi", T)[0], T);
  assert.deepEqual(rowOf("sabma", 0).slice(1), rowOf("vi", FINDING.T).slice(1));
});

test("a label takes the first place that is free, within the picture", () => {
  const boxes = [-5, 10, 40].map((x) => [x, 10, x + 20, 26]);
  assert.equal(free(boxes, [], 100, 40), boxes[1]); // the first is cut
  assert.equal(free(boxes, [[25, 12, 30, 15]], 100, 40), boxes[2]);
  assert.ok(overlap(boxes[0], [14, 25, 20, 30]) && !overlap(boxes[0], [15, 10, 20, 26]));
});
