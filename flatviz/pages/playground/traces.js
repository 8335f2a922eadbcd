// A small chart of several lines against steps.
import { inks, two, words } from "./ink.js";

/** @import { Pen, Series } from "./types.d.ts" */

/**
 * Draw several lines against one axis of steps, each labelled with its last value at its end;
 * values that are not finite are left out. log: a logarithmic axis.
 * @param {Pen} pen
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 * @param {string} title
 * @param {Series[]} series
 * @param {{ log?: boolean, most?: number }} options
 */
export function traceChart(
  pen,
  left,
  top,
  width,
  height,
  title,
  series,
  { log = false, most = 0 } = {},
) {
  const ink = inks();
  const room = 52;
  const value = (/** @type {number} */ y) => (log ? Math.log10(Math.max(y, 1e-6)) : y);
  const all = series.flatMap((s) => s.y.filter(Number.isFinite).map(value));
  let [lo, hi] = [Math.min(...all), Math.max(...all)];
  if (!all.length) [lo, hi] = [0, 1];
  const least = log ? 0.6 : 0.05 * Math.max(1, Math.abs(hi));
  if (hi - lo < least) [lo, hi] = [(lo + hi - least) / 2, (lo + hi + least) / 2];
  const last = Math.max(most, ...series.map((s) => s.x.at(-1) ?? 0), 10);
  const X = (/** @type {number} */ x) => left + ((width - room) * x) / last;
  const Y = (/** @type {number} */ y) =>
    top + height - 7 - ((height - 32) * (value(y) - lo)) / (hi - lo);
  pen.strokeStyle = ink.line;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(left, top + height - 0.5);
  pen.lineTo(left + width - room, top + height - 0.5);
  pen.stroke();
  words(pen, title, left, top + 9, { color: ink.soft, size: 12.5, halo: false });
  /** @type {{ x: number, y: number, text: string, color: string }[]} */
  const ends = [];
  for (const s of series) {
    pen.beginPath();
    s.y.forEach((y, i) => {
      if (Number.isFinite(y)) pen.lineTo(X(s.x[i]), Y(y));
    });
    pen.strokeStyle = s.color;
    pen.globalAlpha = s.faint ? 0.25 : s.thin ? 0.6 : 1;
    pen.lineWidth = s.faint || s.thin ? 1.2 : 2.4;
    pen.stroke();
    pen.globalAlpha = 1;
    const y = s.y[s.y.length - 1];
    if (!s.faint && !s.thin && Number.isFinite(y))
      ends.push({ x: X(s.x[s.x.length - 1]) + 6, y: Y(y), text: two(y), color: s.color });
  }
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => {
    if (i && end.y < ends[i - 1].y + 14) end.y = ends[i - 1].y + 14;
  });
  for (let i = ends.length - 1, below = top + height; i >= 0; below = ends[i].y - 14, i--)
    ends[i].y = Math.min(ends[i].y, below);
  for (const end of ends)
    words(pen, end.text, end.x, end.y, { color: end.color, size: 12.5, weight: 600 });
}
