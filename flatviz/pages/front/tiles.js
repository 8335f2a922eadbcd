// ---- thumbnails of images, with the draws' votes
import { drawing } from "./elements.js";
import { cut, imageUrl, percent } from "./thumbnails.js";

/** @import { ImageItem, Images, Member, Pixels } from "./types.d.ts" */

/** @typedef {{ left: number, top: number, width: number, height: number }} Box In px */
/**
 * What an image picture shows: at an ensemble size, with a lit draw and an image in the chart.
 * @typedef {object} ImageView
 * @property {Member} member
 * @property {Images} items
 * @property {number} n
 * @property {boolean} dark
 * @property {Record<"ink" | "soft" | "line" | "paper" | "mark", string>} ink
 * @property {number | null} lit
 * @property {ImageItem} now
 * @property {Pixels | undefined} pixels of the bundle
 */

const COLUMNS = 4;
const BELOW = 48; // px of text below an image

/**
 * The class to which a draw gives most, NaN where it diverged.
 * @param {Images} items
 * @param {number} draw
 * @param {number} place
 */
function best(items, draw, place) {
  let found = NaN;
  let most = -1;
  items.classes.forEach((_, label) => {
    const p = items.prob(draw, place, label);
    if (p > most) [found, most] = [label, p];
  });
  return found;
}

/**
 * How the draws vote for the class of an image, most votes first: [label, votes].
 * @param {ImageView} view
 * @param {number} place
 */
function votesOf({ items, n }, place) {
  /** @type {Map<number, number>} */
  const votes = new Map();
  for (let draw = 0; draw < items.kept(n); draw++) {
    const label = best(items, draw, place);
    votes.set(label, (votes.get(label) ?? 0) + 1);
  }
  return [...votes].sort((a, b) => b[1] - a[1]);
}

/**
 * What stands below an image: the votes of the draws, or what the lit draw says, and whether that
 * is wrong.
 * @param {ImageView} view
 * @param {ImageItem} item
 * @param {number} wide px
 */
function answers(view, { place, label }, wide) {
  const { items, n, lit } = view;
  const { classes } = items;
  const kept = items.kept(n);
  if (lit === null || lit >= kept) {
    const votes = votesOf(view, place).map(
      ([voted, count]) => `${classes[voted] ?? "none"}${kept > 1 ? `×${count}` : ""}`,
    );
    return { said: votes.join(" "), one: false, wrong: false };
  }
  const own = best(items, lit, place);
  const name = wide > 110 ? `draw ${lit + 1}: ` : "";
  const said = `${name}${classes[own] ?? "none"}, ${percent(items.prob(lit, place, own))}`;
  return { said, one: true, wrong: own !== label };
}

/**
 * One image; below it its label and disagreement, and how the draws vote, or what the draw says
 * that is pointed at.
 * @param {ImageView} view
 * @param {ImageItem} item
 * @param {number} k its place among `count`
 * @param {number} count
 * @param {Box} box of all
 */
export function tile(view, item, k, count, { left, top, width, height }) {
  const { member, ink, now, pixels, items } = view;
  const w = width / COLUMNS;
  const side = Math.min(w - 10, height / Math.ceil(count / COLUMNS) - BELOW);
  const x = left + (k % COLUMNS) * w + (w - side) / 2;
  const y = top + Math.floor(k / COLUMNS) * (side + BELOW);
  const { said, one, wrong } = answers(view, item, w);
  const most = Math.floor((w - 8) / 6.9); // characters in a line
  const label = items.classes[item.label];
  const value = item.nats.toFixed(2);
  const lines = [`${label} · ${value} nats`, `${label} · ${value}`];
  const told =
    lines.find((line) => line.length <= most) ??
    `${cut(label, most - value.length - 3)} · ${value}`;
  const name = `test image ${item.row}, label ${label}, disagreement ${value} nats; answers ${said}`;
  const here = now.row === item.row;
  const middle = { x: x + side / 2, "text-anchor": "middle" };
  const attributes = {
    "data-row": item.row,
    role: "button",
    tabindex: 0,
    "aria-label": name,
    "aria-pressed": here,
    style: "cursor:pointer",
  };
  return drawing(
    "g",
    attributes,
    drawing("title", {}, name),
    drawing("image", {
      x,
      y,
      width: side,
      height: side,
      href: imageUrl(item.row, member.meta.images, pixels),
      style: "image-rendering:pixelated",
    }),
    drawing("rect", {
      x: x - 1,
      y: y - 1,
      width: side + 2,
      height: side + 2,
      fill: "none",
      stroke: here ? ink.mark : ink.line,
      "stroke-width": here ? 3 : 1,
    }),
    drawing("text", { ...middle, y: y + side + 16 }, told),
    drawing(
      "text",
      {
        ...middle,
        y: y + side + 32,
        "font-size": 11.5,
        class: "fv-said",
        "font-weight": one ? 600 : 400,
        fill: one ? (wrong ? ink.mark : ink.ink) : ink.soft,
      },
      cut(said, most),
    ),
  );
}
