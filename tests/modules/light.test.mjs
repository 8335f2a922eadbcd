// Reliefs are lit from the upper left, so that a hollow reads as one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lightOf } from "../../flatviz/pages/playground/ground.js";

const SIDE = 61;
const [middle, near, far] = [30, 24, 36]; // near: towards the upper left

test("a hollow's far wall is bright and its near wall dark, a hill's the other way round", () => {
  const hollow = Float64Array.from({ length: SIDE * SIDE }, (_, k) => {
    const [row, column] = [Math.floor(k / SIDE) - middle, (k % SIDE) - middle];
    return 1 - Math.exp(-(row * row + column * column) / 200);
  });
  const light = lightOf(hollow, SIDE, SIDE, 2);
  assert.ok(light(far, far) > 0.05 && light(near, near) < -0.05);
  assert.ok(light(far, middle) > 0.02 && light(near, middle) < -0.02);
  assert.ok(light(middle, far) > 0.02 && light(middle, near) < -0.02);
  assert.ok(Math.abs(light(middle, middle)) < 1e-9);
  const hill = lightOf(
    hollow.map((v) => -v),
    SIDE,
    SIDE,
    2,
  );
  assert.ok(hill(far, far) < -0.05 && hill(near, near) > 0.05);
});
