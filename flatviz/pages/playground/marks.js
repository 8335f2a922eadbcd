// The marks of a step on its ground: ellipses, arrows and their labels, as parts of an SVG.
import { norm } from "./engine.js";
import { free } from "./labels.js";
import { colorOf, inks } from "./ui.js";

export const SVG = "http://www.w3.org/2000/svg";
const LETTER = 10; // px, of a label
const FAR = [0, 14, 26, 40, 56, 74]; // px, from where a label would stand
const WAYS = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => [dx, dy]));

/** @typedef {import("./labels.js").Box} Box */

const around = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ r) =>
  /** @type {Box} */ ([x - r, y - r, x + r, y + r]);

/** Everything that a step has up to its phase. */

export function drawMarks(step, width, height) {
  const { X, Y, unit } = step.view(width, height),
    { from, g, there, worst: at } = step.record,
    { radius } = step.settings;
  const green = colorOf("sabma"),
    blue = colorOf("vi"),
    orange = colorOf("sam"),
    purple = inks().truth,
    ink = inks().ink;
  step.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  step.svg.replaceChildren();
  const make = (name, attributes, parent = step.svg) => {
    const made = document.createElementNS(SVG, name);
    for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, v);
    parent.append(made);
    return made;
  };
  const group = (s) => make("g", { "data-s": s });
  const ellipse = (into, mean, a, b, more) =>
    make(
      "ellipse",
      { cx: X(mean[0]), cy: Y(mean[1]), rx: a * unit, ry: b * unit, fill: "none", ...more },
      into,
    );
  const labels = [],
    lines = []; // written last, where there is room beside the others and the arrows
  const label = (...one) => labels.push(one);
  const arrow = (into, x, y, dx, dy, color, text, more = {}) => {
    // in pixels
    const length = Math.hypot(dx, dy),
      head = Math.min(11, 0.6 * length),
      [a, b] = length ? [dx / length, dy / length] : [0, 0];
    for (let i = 0; i <= 12; i++) lines.push([x + (dx * i) / 12, y + (dy * i) / 12]);
    make(
      "line",
      {
        x1: x,
        y1: y,
        x2: x + dx - a * head * 0.7,
        y2: y + dy - b * head * 0.7,
        stroke: color,
        "stroke-width": 3.2,
        ...more,
      },
      into,
    );
    make(
      "path",
      {
        d: `M${x + dx},${y + dy} L${x + dx - a * head - b * head * 0.55},${y + dy - b * head + a * head * 0.55} L${x + dx - a * head + b * head * 0.55},${y + dy - b * head - a * head * 0.55} Z`,
        fill: color,
      },
      into,
    );
    if (text) label(into, x + dx + 9 * a + (a < 0 ? -14 : 2), y + dy + 14 * b + 5, text, color);
  };
  const s = from.logStd.map(Math.exp),
    [x, y] = [X(from.mean[0]), Y(from.mean[1])],
    shown = (i) => step.phase >= i;
  const longest = Math.max(norm(g.mean), at ? norm(at.mean) : 0, 1e-9),
    scale = (0.3 * Math.min(width, height)) / longest; // one scale for all gradients

  if (shown(2)) {
    const mark = group("ball");
    ellipse(mark, from.mean, radius * s[0], radius * s[1], {
      stroke: orange,
      "stroke-width": 2,
      "stroke-dasharray": "3 6",
    });
    label(
      mark,
      x + radius * s[0] * unit * 0.72 + 6,
      y + radius * s[1] * unit * 0.72 + 12,
      "ball",
      orange,
    );
  }
  const q = group("q");
  ellipse(q, from.mean, 2 * s[0], 2 * s[1], {
    stroke: ink,
    "stroke-width": 2.4,
    fill: ink,
    "fill-opacity": 0.07,
  });
  for (const z of step.noise)
    make(
      "circle",
      { cx: X(from.mean[0] + s[0] * z[0]), cy: Y(from.mean[1] + s[1] * z[1]), r: 3.4, fill: ink },
      q,
    );
  make("circle", { cx: x, cy: y, r: 6, fill: ink, stroke: inks().paper, "stroke-width": 1.5 }, q);
  label(q, x - 2 * s[0] * unit * 0.72 - 20, y - 2 * s[1] * unit * 0.72 - 6, "q", ink);
  if (shown(3) && there) {
    const mark = group("worst"),
      t = there.logStd.map(Math.exp),
      [u, v] = [X(there.mean[0]), Y(there.mean[1])];
    ellipse(mark, there.mean, 2 * t[0], 2 * t[1], {
      stroke: orange,
      "stroke-width": 2.4,
      fill: orange,
      "fill-opacity": 0.08,
    });
    arrow(mark, x, y, u - x, v - y, orange, "Δ");
    make(
      "circle",
      { cx: u, cy: v, r: 5, fill: orange, stroke: inks().paper, "stroke-width": 1.5 },
      mark,
    );
    label(mark, u - 2 * t[0] * unit * 0.72 - 26, v + 2 * t[1] * unit * 0.72 + 16, "q′", orange);
    if (shown(5)) {
      // from the tip of g, carried over to q', to the tip of g'
      const diff = group("diff");
      arrow(diff, u, v, g.mean[0] * scale, -g.mean[1] * scale, blue, "", {
        "stroke-dasharray": "4 5",
      });
      arrow(
        diff,
        u + g.mean[0] * scale,
        v - g.mean[1] * scale,
        (at.mean[0] - g.mean[0]) * scale,
        -(at.mean[1] - g.mean[1]) * scale,
        purple,
      );
      label(
        diff,
        u + ((g.mean[0] + at.mean[0]) / 2) * scale - 20,
        v - ((g.mean[1] + at.mean[1]) / 2) * scale - 12,
        "g′ − g",
        purple,
      );
    }
    if (shown(4)) arrow(group("there"), u, v, at.mean[0] * scale, -at.mean[1] * scale, green, "g′");
  }
  if (shown(1)) arrow(group("g"), x, y, g.mean[0] * scale, -g.mean[1] * scale, blue, "g");
  if (shown(6)) {
    const mark = group("move"),
      t = step.after.logStd.map(Math.exp);
    ellipse(mark, step.after.mean, 2 * t[0], 2 * t[1], {
      stroke: green,
      "stroke-width": 2.4,
      "stroke-dasharray": "7 4",
    });
    arrow(mark, x, y, X(step.plain.mean[0]) - x, Y(step.plain.mean[1]) - y, blue, "", {
      "stroke-width": 2,
    });
    arrow(mark, x, y, X(step.after.mean[0]) - x, Y(step.after.mean[1]) - y, green, "step");
  }
  const taken = lines.map(([a, b]) => around(a, b, 5));
  const dots = [from.mean, ...(there && shown(3) ? [there.mean] : [])];
  for (const mean of dots) taken.push(around(X(mean[0]), Y(mean[1]), 9));
  for (const [into, x0, y0, text, color] of labels) {
    const wide = LETTER * text.length;
    const boxes = FAR.flatMap((far) => WAYS.map(([dx, dy]) => [x0 + far * dx, y0 + far * dy])).map(
      ([left, base]) => /** @type {Box} */ ([left, base - 14, left + wide, base + 4]),
    );
    const box = free(boxes, taken, width, height);
    taken.push(box);
    make("text", { x: box[0], y: box[3] - 4, fill: color }, into).textContent = text;
  }
}
