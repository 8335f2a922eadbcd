// The numbers under the grounds, each always in the same place.
import { element } from "../front/elements.js";
import { colorOf, nameOf } from "./ink.js";

/**
 * A big number after its name and before two small lines.
 * @param {string} method whose colour it has
 * @param {string} title
 * @param {string} value
 * @param {[string, string]} lines
 */
function cell(method, title, value, lines, best = false) {
  return element(
    "div",
    { style: `--method:${colorOf(method)}`, class: best ? "pg-wins" : "" },
    element("span", {}, title),
    element("b", {}, value),
    element("small", {}, lines[0], element("br"), lines[1]),
  );
}

const shown = (/** @type {number} */ v) => (Number.isFinite(v) ? v.toFixed(2) : "–");

/** Test losses of now, or what the card of now counts. @param {import("./world.js").World} world */
export function scoreOf({ model, frontier, sequence: { card } }) {
  if (card.view === "frontier")
    return frontier.numbers.map(({ method, nll, lambda }) =>
      cell(method, nameOf(method), lambda, ["curvature λ₁", `test NLL ${nll}`]),
    );
  if (card.counts && (model.ends.length || !model.steps))
    return card
      .counts(model)
      .map(({ name, value }) => cell("sabma", name, value, ["runs end", "in the meadow"]));
  const known = model.steps || model.ends.length;
  const best = known ? model.ranking(model.test)[0]?.method : "";
  return [...model.runs.keys()].map((method) => {
    const loss = shown(model.lossAt(model.test, method));
    const training = `training ${shown(model.lossAt(model.loss, method))}`;
    return cell(method, nameOf(method), loss, ["test loss", training], best === method);
  });
}
