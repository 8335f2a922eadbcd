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
