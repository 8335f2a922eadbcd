// The front end's modules that need no page: arrays of members, what is said of them, the state and
// its address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recolored } from "../../flatviz/pages/front/colors.js";
import { Members } from "../../flatviz/pages/front/members.js";
import { assigned, bound, joined, nearest } from "../../flatviz/pages/front/records.js";
import { State } from "../../flatviz/pages/front/state.js";

const FIELDS = {
  accuracy: { offset: 0, shape: [2] },
  nll: { offset: 2, shape: [2] },
  ece: { offset: 4, shape: [2] },
  lambda1: { offset: 6, shape: [1] },
};

function family(radii, { note = "", live = false, stops = {} } = {}) {
  const meta = radii.map((radius) => ({
    method: "sabma",
    radius,
    unit: "nats",
    label: "SA-BMA",
    note,
    equals: radius ? "" : "VI",
    n_draws: 2,
    words: {},
    ranges: { scores: { yaxis: [-radius, radius] } },
  }));
  const numbers = Float32Array.from(
    radii.flatMap((radius) => [0.5, 0.75, 2, radius + 1, 0.1, 0.2, 10 * radius]),
  );
  return new Members(
    {
      index: { record: 7, fields: FIELDS, members: meta, stops, defaults: { sabma: 1 } },
      buffer: numbers.buffer,
    },
    live,
  );
}

test("a radius that is not fitted shows the nearest in powers of ten, and 0 is near to nothing else", () => {
  assert.deepEqual(
    [0.001, 0.4, 3, 0].map((wanted) => nearest([0, 0.1, 1, 2], wanted)),
    [1, 2, 3, 0],
  );
});

test("the sentence has the scores of the ensemble and says where another radius stands in", () => {
  const members = family([0, 1]),
    at = members.standing("sabma", 0.9);
  assert.equal(
    members.sentence(at, 2),
    "radius 0.9 is not fitted; shown: SA-BMA, radius 1, 2 draws: accuracy 75.0 %, NLL 2.000 nats, ECE 0.200; largest eigenvalue λ₁ 10.",
  );
  assert.match(
    members.sentence(members.standing("sabma", 0), 1),
    /^SA-BMA, radius 0, which is VI, 1 draw: accuracy 50.0 %/,
  );
});

test("a kernel's stops join the fitted radii, and end with it", () => {
  const members = family([0, 2], { live: true, stops: { sabma: [1, 2] } });
  assert.deepEqual(members.stops("sabma"), [0, 1, 2]);
  members.live = false;
  assert.deepEqual(members.stops("sabma"), [0, 2]);
});

test("a member that is fitted again takes the place of the first, and ranges hold every member", () => {
  const members = family([0, 1]),
    again = family([1, 4]);
  members.add({ index: again.index, buffer: again.list[0].data.buffer });
  assert.deepEqual(
    members.list.map((m) => [m.meta.radius, m.version]),
    [
      [0, undefined],
      [1, 1],
      [4, undefined],
    ],
  );
  assert.deepEqual(members.ranges({ name: "scores", shared: ["yaxis"] }), { yaxis: [-4, 4] });
});

test("binds take rows as they say", () => {
  const member = {
    meta: { words: { title: "b" } },
    read: new Map(),
    data: Float32Array.from([1, 2, 3, 4, 5, 6]),
  };
  const fields = { rows: { offset: 0, shape: [3, 2] } },
    of = (rows, n) => bound({ field: "rows", rows }, fields, member, n);
  assert.deepEqual(
    [of("draws", 2), of("size", 2), of("all", 1)],
    [
      [
        [1, 2],
        [3, 4],
      ],
      [3, 4],
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    ],
  );
  assert.equal(bound({ field: "title", rows: "all" }, fields, member, 1), "b");
});

test("bytes that stand by place become numbers again", () => {
  const numbers = new Float32Array([1.5, -2, 3e5]),
    bytes = new Uint8Array(numbers.buffer);
  const planes = Uint8Array.from({ length: 12 }, (_, i) => bytes[4 * (i % 3) + Math.floor(i / 3)]);
  assert.deepEqual(new Float32Array(joined(planes).buffer), numbers);
});

test("a copy shares what a path does not touch", () => {
  const figure = { data: [{ x: [1] }, { x: [2] }], layout: {} },
    other = assigned(figure, ["data", "1", "x"], [3]);
  assert.deepEqual(
    [other.data[1].x, figure.data[1].x, other.data[0] === figure.data[0]],
    [[3], [2], true],
  );
});

test("an address read is the state that wrote it, and undo goes back to before", () => {
  const traits = { method: "vi", radius: 0, n_draws: 10, look: {} },
    acted = [];
  const model = {
    get: (k) => traits[k],
    set: (k, v) => {
      traits[k] = v;
    },
    save_changes() {},
  };
  const state = new State(
    model,
    { n_max: 30, members: [{ method: "vi" }, { method: "sabma" }] },
    () => {},
    (v) => acted.push(v),
  );
  state.change({
    method: "sabma",
    radius: 0.5,
    compare: { method: "vi", radius: 0 },
    chosen: { surface: "loss, map" },
  });
  const { hash, all } = state;
  state.undo();
  assert.equal(state.all.method, "vi");
  state.read(hash);
  assert.deepEqual(state.all, all);
  state.read("#method=none&draws=nonsense&b=x");
  assert.deepEqual(state.all, all);
});

test("on dark ground a band of the ink has the light ink and its opacity, and white lines stay", () => {
  const band = { fillcolor: "rgba(31, 41, 51, 0.2)", line: { color: "#1f2933" } };
  assert.deepEqual(recolored(band), {
    fillcolor: "rgba(228, 231, 235, 0.2)",
    line: { color: "#e4e7eb" },
  });
  assert.equal(recolored("rgba(255,255,255,0.5)"), "rgba(255,255,255,0.5)");
});
