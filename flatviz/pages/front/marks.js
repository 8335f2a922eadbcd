// ---- marks over a picture, which plotly does not draw: rings at a draw's points
import { element } from "./elements.js";
import { axisName } from "./narrow.js";

/** @import { Entry, FullTrace, PlotElement } from "./types.d.ts" */

/** @typedef {{ left: number, top: number, width?: number, height?: number }} At In px */

/**
 * A mark of this class.
 * @param {string} name
 * @param {At} at
 */
function mark(name, at) {
  const parts = Object.entries(at).map(([side, px]) => `${side}:${px.toFixed(1)}px`);
  return element("div", { class: name, style: parts.join(";") });
}

/**
 * How many of these eigenvalues each draw has.
 * @param {ArrayLike<number>} x
 * @param {number} spectra draws that have eigenvalues
 */
export const perDraw = (x, spectra) => Math.max(1, Math.round(x.length / spectra));

/**
 * Where the points of a draw stand in a trace.
 * @param {PlotElement} plot
 * @param {FullTrace} trace
 * @param {number} draw
 * @param {number} each points of each draw
 * @returns {At[]}
 */
function placesOf(plot, trace, draw, each) {
  const x = plot._fullLayout?.[axisName(trace.xaxis ?? "x")];
  const y = plot._fullLayout?.[axisName(trace.yaxis ?? "y")];
  if (!x?.d2p || !y?.d2p || !trace.x) return [];
  const places = [];
  for (let i = draw * each; i < (draw + 1) * each && i < trace.x.length; i++) {
    const left = plot.offsetLeft + x._offset + x.d2p(trace.x[i]);
    const top = plot.offsetTop + y._offset + y.d2p(trace.y[i]);
    if (Number.isFinite(left) && Number.isFinite(top)) places.push({ left, top });
  }
  return places;
}

/**
 * Rings at the points of a draw, and a rule at its ensemble size.
 * @param {PlotElement} plot
 * @param {Entry} entry
 * @param {number} draw
 * @param {number} spectra draws that have eigenvalues
 */
export function marksOf(plot, { link }, draw, spectra) {
  const layout = plot._fullLayout;
  if (!layout) return [];
  const rings = plot._fullData.flatMap((trace) => {
    const kind = link[trace.name ?? ""];
    if (!kind) return [];
    const each = kind === "draws" ? 1 : perDraw(trace.x ?? [], spectra);
    return placesOf(plot, trace, draw, each).map((at) => mark("fv-ring", at));
  });
  const { xaxis } = layout;
  if (link.x !== "sizes" || !xaxis?.d2p) return rings;
  const { t, h } = layout._size;
  const left = plot.offsetLeft + xaxis._offset + xaxis.d2p(draw + 1);
  return [...rings, mark("fv-rule", { left, top: plot.offsetTop + t, height: h })];
}
