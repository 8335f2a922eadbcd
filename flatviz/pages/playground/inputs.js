// The pictures of a pane: predictions over the inputs, a regression, the loss plane.
import { element } from "../front/elements.js";
import { isDark } from "../front/colors.js";
import { dot, plus } from "./engine.js";
import { CLASS_INKS, GRID, PLANE, REACH, SHORT } from "./settings.js";
import { colorOf, inks, levelLines, strokeLines, two, words } from "./ui.js";
import { traceChart } from "./traces.js";

export function drawClasses(pane, pen, width, height) {
  const dark = isDark(),
    paper = dark ? [21, 25, 30] : [255, 255, 255],
    small = element("canvas", { width: GRID, height: GRID }),
    out = small.getContext("2d");
  const image = out.createImageData(GRID, GRID),
    ink = inks(),
    color = colorOf(pane.method);
  pane.mean.forEach((p, k) => {
    const sure = Math.abs(2 * p - 1),
      tint = CLASS_INKS[p > 0.5 ? 1 : 0];
    for (let c = 0; c < 3; c++)
      image.data[4 * k + c] = paper[c] + (tint[c] - paper[c]) * 0.75 * sure;
    image.data[4 * k + 3] = 255;
  });
  out.putImageData(image, 0, 0);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(small, 0.5, 0.5, GRID - 1, GRID - 1, 0, 0, width, height);
  const lines = (field, level) =>
    strokeLines(pen, levelLines(field, GRID, GRID, level), GRID, GRID, width, height);
  pen.strokeStyle = ink.ink;
  pen.lineWidth = 1.2;
  pen.globalAlpha = 0.28;
  for (const shadow of pane.shadows) lines(shadow.field, 0);
  pen.strokeStyle = color;
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1.1;
  if (pane.fields.length > 1) for (const field of pane.fields) lines(field, 0.5);
  pen.globalAlpha = 1;
  pen.lineWidth = 2.6;
  lines(pane.mean, 0.5);
  const { x, y } = pane.world.train,
    [spanX, spanY] = [2.4, 2];
  y.forEach((label, i) => {
    const a = ((x[2 * i] / spanX + 1) / 2) * width,
      b = ((1 - x[2 * i + 1] / spanY) / 2) * height;
    pen.fillStyle = `rgb(${CLASS_INKS[label].map((v) => (dark ? Math.min(255, 1.35 * v) : 0.8 * v)).join()})`;
    pen.strokeStyle = ink.paper;
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (label) pen.rect(a - 4.5, b - 4.5, 9, 9);
    else pen.arc(a, b, 5, 0, 7);
    pen.fill();
    pen.stroke();
  });
  words(pen, "pale: unsure", 8, height - 12, { size: 12.5, color: ink.soft });
  words(
    pen,
    pane.fields.length > 1 ? "thin lines: the draws" : "one point: one line",
    width - 8,
    height - 12,
    { size: 12.5, color: ink.soft, align: "right" },
  );
}

export function drawRegression(pane, pen, width, height) {
  const ink = inks(),
    color = colorOf(pane.method),
    n = pane.mean.length,
    X = (i) => (i / (n - 1)) * width,
    reach = Math.max(...pane.world.panes.map((pane) => pane.highest)),
    Y = (v) => height / 2 - ((v / reach) * height) / 2;
  const spread = pane.spread;
  pen.fillStyle = pen.strokeStyle = color;
  pen.beginPath();
  pane.mean.forEach((m, i) => pen.lineTo(X(i), Y(m + spread[i])));
  for (let i = n - 1; i >= 0; i--) pen.lineTo(X(i), Y(pane.mean[i] - spread[i]));
  pen.globalAlpha = 0.16;
  pen.fill();
  pen.globalAlpha = 1;
  const line = (field, alpha, thick) => {
    pen.beginPath();
    field.forEach((m, i) => pen.lineTo(X(i), Y(m)));
    pen.globalAlpha = alpha;
    pen.lineWidth = thick;
    pen.stroke();
    pen.globalAlpha = 1;
  };
  pen.strokeStyle = ink.ink;
  for (const shadow of pane.shadows) line(shadow.field, 0.25, 1.2);
  pen.strokeStyle = color;
  if (pane.fields.length > 1) for (const field of pane.fields) line(field, 0.45, 1.1);
  line(pane.mean, 1, 2.6);
  const { x, y } = pane.world.train;
  pen.fillStyle = ink.ink;
  y.forEach((v, i) => {
    pen.beginPath();
    pen.arc(((x[i] / 3 + 1) / 2) * width, Y(v), 3.6, 0, 7);
    pen.fill();
  });
  if (pane === pane.world.panes[0])
    words(pen, "band: two standard deviations", 8, height - 12, { size: 12.5, color: ink.soft });
}

export function drawLoss(pane, pen, width, height) {
  const ink = inks();
  if (!pane.drawn) {
    words(pen, "loss on the plane of the two sharpest directions", 2, 10, {
      color: ink.soft,
      size: 12.5,
      halo: false,
    });
    return;
  }
  const { values, axes, center } = pane.drawn,
    low = Math.min(...values),
    share = values.map((v) => Math.min(1, (v - low) / pane.world.high));
  const small = element("canvas", { width: PLANE, height: PLANE }),
    out = small.getContext("2d"),
    image = out.createImageData(PLANE, PLANE);
  share.forEach((v, k) => {
    for (let c = 0; c < 3; c++) image.data[4 * k + c] = ink.low[c] + (ink.high[c] - ink.low[c]) * v;
    image.data[4 * k + 3] = 255;
  });
  out.putImageData(image, 0, 0);
  pen.drawImage(small, 0.5, 0.5, PLANE - 1, PLANE - 1, 0, 0, width, height);
  pen.strokeStyle = isDark() ? "rgba(255,255,255,.2)" : "rgba(60,70,80,.3)";
  pen.lineWidth = 1;
  for (let level = 1; level < 10; level++)
    strokeLines(pen, levelLines(share, PLANE, PLANE, level / 10), PLANE, PLANE, width, height);
  pen.fillStyle = colorOf(pane.method);
  for (const w of pane.members()) {
    const off = plus(w, center, -1);
    pen.beginPath();
    pen.arc(
      ((dot(off, axes[0].vector) / REACH + 1) / 2) * width,
      ((1 - (2 * dot(off, axes[1].vector)) / REACH) / 2) * height,
      3,
      0,
      7,
    );
    pen.fill();
  }
  words(pen, `loss, two sharpest directions · λ₁ = ${two(axes[0].value)}`, 6, 12, {
    color: ink.ink,
    size: 12.5,
  });
}

// Scores and curvature of every pane against steps.
export function drawTraces(world, pen, width, height) {
  if (!world.steps) {
    const look = { color: inks().soft, size: 15, halo: false };
    words(pen, "Play draws the scores against the steps here.", 0, 12, look);
    return;
  }
  const charts = [
    [world.kind === "gap" ? "test NLL" : "test loss", "test"],
    ["calibration error, ECE", "ece"],
    ["λ₁ of the training loss", "lambda"],
  ].filter(([, key]) => key !== "ece" || world.kind !== "gap");
  const narrow = width < 620,
    columns = narrow && charts.length > 2 ? 1 : charts.length,
    wide = (width - 14 * (columns - 1)) / columns,
    tall = (height * columns) / charts.length;
  charts.forEach(([title, key], i) => {
    const series = world.panes.flatMap((pane) => [
      ...pane.shadows.map((s) => ({
        color: colorOf(pane.method),
        x: s.x,
        y: s[key],
        faint: true,
      })),
      { color: colorOf(pane.method), x: pane.x, y: pane[key] },
    ]);
    traceChart(
      pen,
      (i % columns) * (wide + 14),
      Math.floor(i / columns) * tall,
      wide,
      tall - 4,
      title,
      series.filter((s) => s.y.some(Number.isFinite)),
      { log: key === "lambda", most: SHORT },
    );
  });
}
