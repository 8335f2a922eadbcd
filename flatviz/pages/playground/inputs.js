// The pictures of a pane: predictions over the inputs, a regression, the loss plane.
import { isDark } from "../front/colors.js";
import { dot, plus } from "./engine.js";
import { CLASS_INKS, GRID, PLANE, REACH, SHORT, SPAN } from "./settings.js";
import { traceChart } from "./traces.js";
import { colorOf, inks, levelLines, pixels, reliefOf, strokeLines, two, words } from "./ink.js";

/** @import { Look, Pen } from "./types.d.ts" */
/** @import { NetworkWorld } from "./network.js" */
/** @import { Pane } from "./pane.js" */

const FULL = 2 * Math.PI;
const LEVELS = 10; // of the loss plane
const ACROSS = 620; // px: where charts stand side by side

/**
 * Draw the predicted classes: pale where the ensemble is unsure, a line where each draw is
 * undecided.
 * @param {Pane} pane
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
export function drawClasses(pane, pen, width, height) {
  const { mean, fields } = pane.trial;
  const paper = isDark() ? [21, 25, 30] : [255, 255, 255];
  const small = pixels(GRID, GRID, (k) => {
    const sure = Math.abs(2 * mean[k] - 1);
    const tint = CLASS_INKS[mean[k] > 0.5 ? 1 : 0];
    return paper.map((v, c) => v + (tint[c] - v) * 0.75 * sure);
  });
  pen.imageSmoothingQuality = "high";
  pen.drawImage(small, 0.5, 0.5, GRID - 1, GRID - 1, 0, 0, width, height);
  const line = (
    /** @type {ArrayLike<number>} */ field,
    /** @type {number} */ level,
    /** @type {number} */ alpha,
    /** @type {number} */ thick,
  ) => {
    pen.globalAlpha = alpha;
    pen.lineWidth = thick;
    strokeLines(pen, levelLines(field, GRID, GRID, level), GRID, GRID, width, height);
    pen.globalAlpha = 1;
  };
  const { ink, soft } = inks();
  pen.strokeStyle = ink;
  for (const shadow of pane.shadows) line(shadow.field, 0, 0.28, 1.2);
  pen.strokeStyle = colorOf(pane.method);
  if (fields.length > 1) for (const field of fields) line(field, 0.5, 0.55, 1.1);
  line(mean, 0.5, 1, 2.6);
  drawPoints(pane, pen, width, height);
  /** @type {Look} */
  const look = { size: 12.5, color: soft };
  words(pen, "pale: unsure", 8, height - 12, look);
  const text = fields.length > 1 ? "thin lines: the draws" : "one point: one line";
  words(pen, text, width - 8, height - 12, { ...look, align: "right" });
}

/**
 * Draw the points that are learnt: circles and squares in the colours of the classes.
 * @param {Pane} pane
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
function drawPoints({ world }, pen, width, height) {
  const { x, y } = world.data.train;
  const shade = (/** @type {number} */ v) => (isDark() ? Math.min(255, 1.35 * v) : 0.8 * v);
  pen.strokeStyle = inks().paper;
  pen.lineWidth = 1.5;
  y.forEach((label, i) => {
    const a = ((x[2 * i] / SPAN[0] + 1) / 2) * width;
    const b = ((1 - x[2 * i + 1] / SPAN[1]) / 2) * height;
    pen.fillStyle = `rgb(${CLASS_INKS[label].map(shade).join()})`;
    pen.beginPath();
    if (label) pen.rect(a - 4.5, b - 4.5, 9, 9);
    else pen.arc(a, b, 5, 0, FULL);
    pen.fill();
    pen.stroke();
  });
}

/**
 * Draw the regressions of the draws, their mean and a band of two standard deviations.
 * @param {Pane} pane
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
export function drawRegression(pane, pen, width, height) {
  const { mean, fields, spread } = pane.trial;
  const { panes, data } = pane.world;
  const n = mean.length;
  const reach = Math.max(...panes.map(({ trial }) => trial.highest));
  const X = (/** @type {number} */ i) => (i / (n - 1)) * width;
  const Y = (/** @type {number} */ v) => height / 2 - ((v / reach) * height) / 2;
  pen.fillStyle = colorOf(pane.method);
  pen.beginPath();
  mean.forEach((m, i) => pen.lineTo(X(i), Y(m + spread[i])));
  for (let i = n - 1; i >= 0; i--) pen.lineTo(X(i), Y(mean[i] - spread[i]));
  pen.globalAlpha = 0.16;
  pen.fill();
  pen.globalAlpha = 1;
  const line = (
    /** @type {ArrayLike<number>} */ field,
    /** @type {number} */ alpha,
    /** @type {number} */ thick,
  ) => {
    pen.beginPath();
    for (let i = 0; i < field.length; i++) pen.lineTo(X(i), Y(field[i]));
    pen.globalAlpha = alpha;
    pen.lineWidth = thick;
    pen.stroke();
    pen.globalAlpha = 1;
  };
  const { ink, soft } = inks();
  pen.strokeStyle = ink;
  for (const shadow of pane.shadows) line(shadow.field, 0.25, 1.2);
  pen.strokeStyle = colorOf(pane.method);
  if (fields.length > 1) for (const field of fields) line(field, 0.45, 1.1);
  line(mean, 1, 2.6);
  const { x, y } = data.train;
  pen.fillStyle = ink;
  y.forEach((v, i) => {
    pen.beginPath();
    pen.arc(((x[i] / 3 + 1) / 2) * width, Y(v), 3.6, 0, FULL);
    pen.fill();
  });
  if (pane === panes[0])
    words(pen, "band: two standard deviations", 8, height - 12, { size: 12.5, color: soft });
}

/**
 * Draw the loss on the plane of the two sharpest directions, and the draws on it.
 * @param {Pane} pane
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
export function drawLoss(pane, pen, width, height) {
  const { ink, soft } = inks();
  const { trial, world } = pane;
  if (!trial.drawn) {
    const look = { color: soft, size: 12.5, halo: false };
    words(pen, "loss on the plane of the two sharpest directions", 2, 10, look);
    return;
  }
  const { values, axes, center } = trial.drawn;
  const low = Math.min(...values);
  const share = values.map((v) => Math.min(1, (v - low) / world.high));
  const small = reliefOf(share, PLANE, PLANE);
  pen.drawImage(small, 0.5, 0.5, PLANE - 1, PLANE - 1, 0, 0, width, height);
  pen.strokeStyle = isDark() ? "rgba(255,255,255,.2)" : "rgba(60,70,80,.3)";
  pen.lineWidth = 1;
  for (let level = 1; level < LEVELS; level++) {
    const lines = levelLines(share, PLANE, PLANE, level / LEVELS);
    strokeLines(pen, lines, PLANE, PLANE, width, height);
  }
  pen.fillStyle = colorOf(pane.method);
  for (const w of trial.members()) {
    const off = plus(w, center, -1);
    const x = ((dot(off, axes[0].vector) / REACH + 1) / 2) * width;
    const y = ((1 - (2 * dot(off, axes[1].vector)) / REACH) / 2) * height;
    pen.beginPath();
    pen.arc(x, y, 3, 0, FULL);
    pen.fill();
  }
  const text = `loss, two sharpest directions · λ₁ = ${two(axes[0].value)}`;
  words(pen, text, 6, 12, { color: ink, size: 12.5 });
}

/**
 * Draw scores and curvature of every pane against steps.
 * @param {NetworkWorld} world
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
export function drawTraces(world, pen, width, height) {
  if (!world.steps) {
    const look = { color: inks().soft, size: 15, halo: false };
    words(pen, "Play draws the scores against the steps here.", 0, 12, look);
    return;
  }
  /** @type {[title: string, key: "test" | "ece" | "lambda"][]} */
  const all = [
    [world.regression ? "test NLL" : "test loss", "test"],
    ["calibration error, ECE", "ece"],
    ["λ₁ of the training loss", "lambda"],
  ];
  const charts = all.filter(([, key]) => key !== "ece" || !world.regression);
  const columns = width < ACROSS && charts.length > 2 ? 1 : charts.length;
  const wide = (width - 14 * (columns - 1)) / columns;
  const tall = (height * columns) / charts.length;
  charts.forEach(([title, key], i) => {
    const series = world.panes.flatMap(({ method, trial, shadows }) => {
      const color = colorOf(method);
      const earlier = shadows.map((one) => ({ color, x: one.x, y: one[key], faint: true }));
      return [...earlier, { color, x: trial.x, y: trial[key] }];
    });
    const known = series.filter((one) => one.y.some(Number.isFinite));
    const left = (i % columns) * (wide + 14);
    const top = Math.floor(i / columns) * tall;
    const how = { log: key === "lambda", most: SHORT };
    traceChart(pen, left, top, wide, tall - 4, title, known, how);
  });
}
