// ---- what each draw says of one image
import { drawing } from "./elements.js";
import { cut, NAME } from "./thumbnails.js";

/** @import { Images } from "./types.d.ts" */
/** @import { Box, ImageView } from "./tiles.js" */

/**
 * The chart: classes and probabilities to pixels, and the width of a class.
 * @typedef {{ x: (label: number) => number, y: (p: number) => number, step: number, items: Images
 *   }} Chart
 */
/** @typedef {Record<string, string | number>} Attributes */

/**
 * Class probabilities of every draw for one image: thin lines; their mean: bars.
 * @param {ImageView} view
 * @param {Box & { turned: boolean, foot: number }} box turned: names of classes are; foot: px to
 *   the title of the axis
 */
export function probabilities(view, { left, top, width, height, turned, foot }) {
  const { now, n, ink, lit, items, dark, member } = view;
  const { classes } = items;
  const kept = items.kept(n);
  const step = width / classes.length;
  const x = (/** @type {number} */ label) => left + (label + 0.5) * step;
  const y = (/** @type {number} */ p) => top + (1 - p) * height;
  const { color } = member.meta.images;
  const node = drawing("g", { "data-chart": now.row });
  const text = (/** @type {string} */ words, /** @type {Attributes} */ at) =>
    node.append(drawing("text", at, words));
  node.append(drawing("rect", { x: left, y: top, width, height, fill: "transparent" }));
  for (const p of [0, 0.25, 0.5, 0.75, 1]) {
    const ends = { x1: left, x2: left + width, y1: y(p), y2: y(p) };
    node.append(drawing("line", { ...ends, stroke: ink.line }));
    text(String(p), { x: left - 6, y: y(p) + 4, "text-anchor": "end", fill: ink.soft });
  }
  const below = top + height + 16;
  classes.forEach((name, label) => {
    let mean = 0;
    for (let draw = 0; draw < kept; draw++) mean += items.prob(draw, now.place, label);
    mean /= kept;
    if (Number.isFinite(mean)) {
      const bar = {
        class: "fv-mean",
        x: x(label) - 0.36 * step,
        y: y(mean),
        width: 0.72 * step,
        height: mean * height,
      };
      node.append(drawing("rect", { ...bar, fill: color, "fill-opacity": dark ? 0.6 : 0.35 }));
    }
    const turn = { transform: `rotate(-40 ${x(label)} ${below})`, "text-anchor": "end" };
    const look = { "text-anchor": "middle", "font-weight": label === now.label ? 700 : 400 };
    text(cut(name, NAME), { x: x(label), y: below, ...look, ...(turned ? turn : {}) });
  });
  const line = (/** @type {number} */ draw, /** @type {Attributes} */ look) => {
    const points = classes
      .map((_, label) => [x(label), y(items.prob(draw, now.place, label))])
      .filter(([, up]) => Number.isFinite(up))
      .map(([across, up]) => `${across.toFixed(2)},${up.toFixed(2)}`);
    const path = { "data-draw": draw, points: points.join(" "), fill: "none" };
    node.append(drawing("polyline", { ...path, "stroke-linejoin": "round", ...look }));
  };
  const thin = { stroke: dark ? ink.ink : color, "stroke-width": 1.2, "stroke-opacity": 0.55 };
  for (let draw = 0; draw < kept; draw++) line(draw, thin);
  const marked = lit !== null && lit < kept;
  if (marked) line(lit, { stroke: ink.mark, "stroke-width": 3.5 });
  const title = { x: left - 30, y: top - 36, "font-size": 15 };
  text(`Test image ${now.row}, label ${classes[now.label]}`, title);
  const thick = marked ? `; thick: draw ${lit + 1}` : "";
  const many = `bars: mean of ${kept} draws; lines: single draws${thick}`;
  const words = kept === 1 ? "one draw: its probabilities" : many;
  text(words, { x: left - 30, y: top - 16, fill: ink.soft });
  const axis = { x: left + width / 2, y: top + height + foot, fill: ink.soft };
  text("class (bold: the label)", { ...axis, "text-anchor": "middle" });
  return { node, chart: { x, y, step, items } };
}
