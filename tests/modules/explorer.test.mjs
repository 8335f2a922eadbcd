// The explorer's state, without a page: what a click and a message of the kernel change.
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
const { Work } = await import("../../flatviz/pages/front/bar.js");
const { Side } = await import("../../flatviz/pages/front/controls.js");
const { Explorer } = await import("../../flatviz/pages/front/explorer.js");

/** An explorer that stands on nothing but these fields. */
function standing(fields) {
  const put = [];
  const state = {
    all: { picked: null, chosen: {} },
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

test("what the kernel says is shown, and a lost kernel leaves the pictures", () => {
  const parts = ["progress", "said", "button", "bands", "note", "node"];
  const work = Object.create(Work.prototype);
  for (const name of parts) work[name] = {};
  const page = standing({ bar: { work }, members: { live: true }, schedule: () => {} });
  page.handle.status({ share: 0.5, text: "half", busy: true, error: "no room" });
  assert.deepEqual([work.progress.value, work.button.textContent], [0.5, "Stop"]);
  assert.deepEqual([work.note.hidden, work.note.textContent], [false, "no room"]);
  page.lost("the kernel has ended");
  assert.deepEqual([page.members.live, work.node.hidden], [false, true]);
  assert.equal(work.note.textContent, "the kernel has ended");
});

test("the radius slider stops at the stops of now, though as many stood there before", () => {
  const part = () => ({ setAttribute() {}, replaceChildren() {} });
  globalThis.document = { createElement: () => ({ append() {}, setAttribute() {} }) };
  const side = Object.create(Side.prototype);
  Object.assign(side, { listed: "", select: part(), radius: part(), text: part() });
  const offer = (stops) => [{ method: "sabma", label: "SA-BMA", stops, unit: "nats" }];
  side.show("sabma", 1, offer([0, 1]));
  side.show("sabma", 2, offer([0, 2]));
  delete globalThis.document;
  assert.deepEqual([side.stops, side.radius.value], [[0, 2], "1"]);
});
