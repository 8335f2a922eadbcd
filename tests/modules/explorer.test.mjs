// The explorer's state, without a page: what a click, a phase and a message of the kernel change.
import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";

const CSS = `export async function load(url, context, next) {
  return url.endsWith(".css")
    ? { format: "module", source: "export default ''", shortCircuit: true }
    : next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(CSS)}`);
globalThis.matchMedia = () => ({ matches: false });
const { Explorer } = await import("../../flatviz/pages/front/explorer.js");

/** An explorer that stands on nothing but these fields. */
function standing(fields) {
  const put = [];
  const state = {
    all: { picked: null, phase: null, chosen: {} },
    past: [],
    change: (values) => put.push(values),
    put: (values) => put.push(values),
  };
  return Object.assign(Object.create(Explorer.prototype), { state, put, ...fields });
}

test("a click picks a draw, and a second one on it lets it go", () => {
  const page = standing({});
  page.point("click", 3);
  page.state.all.picked = 3;
  page.point("click", 3);
  assert.deepEqual(page.put, [{ picked: 3 }, { picked: null }]);
});

test("the player of phases begins anew at the last, takes one step of undo, and ends", () => {
  const page = standing({});
  const frame = { entry: () => ({ phases: ["q", "ascend", "descend"] }) };
  assert.equal(page.playPhase(frame, true), true); // it stood at the last
  page.state.all = page.put[0];
  assert.equal(page.playPhase(frame, false), true);
  page.state.all = { ...page.put[1], phase: 2 };
  assert.equal(page.playPhase(frame, false), false);
  assert.deepEqual(
    page.put.map(({ phase }) => phase),
    [0, 1],
  );
  assert.equal(page.state.past.length, 1);
});

test("what the kernel says is shown, and a lost kernel leaves the pictures", () => {
  const parts = ["bar", "said", "button", "bands", "note", "work"];
  const page = standing(Object.fromEntries(parts.map((name) => [name, {}])));
  page.members = { live: true };
  page.schedule = () => {};
  page.status({ share: 0.5, text: "half", busy: true, error: "no room" });
  assert.deepEqual([page.bar.value, page.button.textContent], [0.5, "Stop"]);
  assert.deepEqual([page.note.hidden, page.note.textContent], [false, "no room"]);
  page.lost("the kernel has ended");
  assert.deepEqual([page.members.live, page.work.hidden], [false, true]);
  assert.equal(page.note.textContent, "the kernel has ended");
});
