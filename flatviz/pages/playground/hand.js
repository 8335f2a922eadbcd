// What pointer and keys do on the two grounds.
import { placeOn } from "./ground.js";
import { TALL, WIDE } from "./grounds.js";

const REACH = 44; // px, of a finger
const RIM = 0.1;
/** @type {Record<string, number[]>} */
const KEYS = {
  ArrowLeft: [-0.1, 0],
  ArrowRight: [0.1, 0],
  ArrowUp: [0, 0.1],
  ArrowDown: [0, -0.1],
};
const DENT = { width: 0.32, reach: 0.16, first: 0.1, more: 0.06, most: 1.5 };

/** @import { Model } from "./model.js" */
/** @import { World } from "./world.js" */

/**
 * A value that keeps away from the rims of a span.
 * @param {number} v
 * @param {number[]} span
 */
const within = (v, [low, high]) => Math.max(low + RIM, Math.min(high - RIM, v));

/** A listener that calls move([dx, dy]) for an arrow key. @param {(by: number[]) => void} move */
export const onArrows = (move) => (/** @type {KeyboardEvent} */ e) => {
  const by = KEYS[e.key];
  if (!by) return;
  e.preventDefault();
  move(by);
};

/** Drag the place where training starts, or push the ground of the reader. @param {World} world */
export function onTraining(world) {
  const { canvas } = world.training.board;
  const { model } = world;
  let dragged = false;
  const near = (/** @type {{ clientX: number, clientY: number }} */ e) => {
    const [x, y] = placeOn(canvas, e);
    const unit = world.training.board.width / (WIDE[1] - WIDE[0]);
    const means = [...model.runs.values()].map((run) => run.learner.q.mean);
    return [model.start, ...means].some(([a, b]) => Math.hypot(x - a, y - b) * unit < REACH);
  };
  const move = (/** @type {PointerEvent} */ e) => {
    const at = placeOn(canvas, e);
    if (world.tool === "start") {
      model.start = [within(at[0], WIDE), within(at[1], TALL)];
    } else {
      push(model, at, world.tool === "down" ? 1 : -1);
      world.training.lay(model.loss, model.world.top);
      world.testing.lay(model.test, model.world.top);
    }
    model.rest(false);
    world.shown();
  };
  const scrolls = (/** @type {{ clientX: number, clientY: number }} */ touch) =>
    world.tool === "start" && !near(touch);
  canvas.addEventListener(
    "touchstart",
    (e) => {
      if (!scrolls(e.touches[0])) e.preventDefault();
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (e) => {
    if (e.pointerType === "touch" && scrolls(e)) return;
    dragged = true;
    canvas.setPointerCapture(e.pointerId);
    world.play(false);
    move(e);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (dragged) move(e);
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, () => {
      if (!dragged) return;
      dragged = false;
      world.again(false);
    });
}

/** Drag the test ground. @param {World} world */
export function onTesting(world) {
  const { canvas } = world.testing.board;
  /** @type {number[] | null} */
  let from = null;
  canvas.addEventListener("pointerdown", (e) => {
    from = placeOn(canvas, e).map((v, i) => v - world.model.shift[i]);
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", (e) => {
    const grip = from;
    if (grip) world.moveTest(placeOn(canvas, e).map((v, i) => v - grip[i]));
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, () => {
      from = null;
    });
}

/**
 * A little more of a dent at this place: the nearest one grows, or a new one begins.
 * @param {Model} model
 * @param {number[]} at
 * @param {number} sign
 */
export function push(model, [x, y], sign) {
  const dents = model.terms.filter((term) => term.kind === "dent");
  const near = dents.find(
    ({ at, width }) => width === DENT.width && Math.hypot(at[0] - x, at[1] - y) < DENT.reach,
  );
  if (near) near.depth = Math.max(-DENT.most, Math.min(DENT.most, near.depth + DENT.more * sign));
  else model.terms.push({ kind: "dent", at: [x, y], depth: DENT.first * sign, width: DENT.width });
  model.reground();
}
