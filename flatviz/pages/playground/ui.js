// What the worlds share: elements, sliders, canvases in screen pixels, a clock that rests out of
// sight, level lines.
// `isDark`, `onThemeChange` come from ../front/colors.js, METHOD_STYLES from the Python theme: name
// -> [label, light, dark, symbol].
import { element, penOf, short } from "../front/elements.js";
import { isDark } from "../front/colors.js";

/** @import { Draw, Look, Pen } from "./types.d.ts" */

/** The children of an element. @param {Element} parent */
export const childrenOf = (parent) => /** @type {HTMLElement[]} */ ([...parent.children]);

/** A number with three digits, or a dash. @param {number} x */
export const two = (x) => (Number.isFinite(x) ? short(x) : "–");
/**
 * A method's label, its colours on light and on dark ground, and its symbol.
 * @param {string} method
 */
export const styleOf = (method) => METHOD_STYLES[method];
/** A method's colour on the ground of now. @param {string} method */
export const colorOf = (method) => styleOf(method)[isDark() ? 2 : 1];

/**
 * A slider over the values `stops`. change(value, final) hears every move, and once more when the
 * hand lets go.
 */
export class Slider {
  /**
   * @param {string} label
   * @param {number[]} stops
   * @param {number} value
   * @param {(value: number, final: boolean) => void} change
   * @param {{ say?: (value: number) => string, help?: string }} options
   */
  constructor(
    label,
    stops,
    value,
    change,
    { say = (/** @type {number} */ x) => String(x), help = "" } = {},
  ) {
    this.stops = stops;
    this.say = say;
    this.input = element("input", {
      type: "range",
      min: 0,
      max: stops.length - 1,
      step: 1,
      "aria-label": label,
    });
    this.text = element("output");
    this.node = element(
      "div",
      { class: "pg-slider", title: help || null },
      element("span", {}, label),
      this.text,
      this.input,
    );
    this.input.addEventListener("input", () => {
      this.told();
      change(this.value, false);
    });
    this.input.addEventListener("change", () => change(this.value, true));
    this.value = value;
  }

  get value() {
    return this.stops[Number(this.input.value)];
  }

  set value(wanted) {
    const off = this.stops.map((s) => Math.abs(s - wanted));
    this.input.value = String(off.indexOf(Math.min(...off)));
    this.told();
  }

  /** Say the value beside the slider. */
  told() {
    this.text.textContent = this.say(this.value);
    this.input.setAttribute("aria-valuetext", this.text.textContent);
  }
}

/** A menu of [key, text], with its label; change(key) hears what is chosen. */
export class Menu {
  /**
   * @param {string} label
   * @param {string[][]} options
   * @param {string} value
   * @param {(key: string) => void} change
   */
  constructor(label, options, value, change) {
    const made = options.map(([key, text]) =>
      element("option", { value: key, selected: key === value }, text),
    );
    this.select = element("select", { "aria-label": label }, ...made);
    this.select.addEventListener("change", () => change(this.select.value));
    this.node = element("label", { class: "pg-menu" }, element("span", {}, label), this.select);
  }
}

/** A canvas as wide as its box, drawn in CSS pixels. `ratio` is its height over its width. */
export class Board {
  width = 0;
  height = 0;
  dense = 1; // pixels of the canvas to one of CSS

  /**
   * @param {Draw} draw
   * @param {{ ratio: number, label: string, least?: number, most?: number }} size
   */
  constructor(draw, { ratio, label, least = 0, most = Infinity }) {
    this.canvas = element("canvas", { role: "img", "aria-label": label });
    this.node = element("div", { class: "pg-board" }, this.canvas);
    this.paint = draw;
    this.ratio = ratio;
    this.least = least;
    this.most = most;
    new ResizeObserver(() => this.fit()).observe(this.node);
  }

  /** Take the size of the box. */
  fit() {
    const width = Math.floor(this.node.clientWidth),
      height = Math.round(Math.min(this.most, Math.max(this.least, width * this.ratio)));
    if (!width || (width === this.width && height === this.height)) return;
    const dense = Math.min(2, devicePixelRatio || 1);
    this.width = width;
    this.height = height;
    this.dense = dense;
    Object.assign(this.canvas, { width: width * dense, height: height * dense });
    this.canvas.style.height = `${height}px`;
    this.draw();
  }

  /** Take another ratio of height to width. @param {number} ratio */
  reshape(ratio) {
    if (ratio !== this.ratio) {
      this.ratio = ratio;
      this.fit();
    }
  }

  /** Draw the picture anew. */
  draw() {
    if (!this.width) return;
    const pen = penOf(this.canvas);
    pen.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineJoin = pen.lineCap = "round";
    this.paint(pen, this.width, this.height);
  }

  /** Describe the picture to a reader who does not see it. @param {string} text */
  say(text) {
    if (this.canvas.getAttribute("aria-label") !== text)
      this.canvas.setAttribute("aria-label", text);
  }
}

/** A clock that calls frame(seconds since the last) while it plays and its node is in sight. */
export class Clock {
  /**
   * @param {Element} seen
   * @param {(seconds: number) => void} frame
   */
  constructor(seen, frame) {
    this.frame = frame;
    this.playing = false;
    this.visible = false;
    this.request = 0;
    this.last = 0;
    new IntersectionObserver(
      ([entry]) => {
        this.visible = entry.isIntersecting;
        this.wake();
      },
      { threshold: 0.05 },
    ).observe(seen);
  }

  /** Play or rest. @param {boolean} on */
  play(on) {
    this.playing = on;
    this.wake();
  }

  /** Ask for the next frame, if there is one to be. */
  wake() {
    if (!this.playing || !this.visible || this.request) return;
    this.last = performance.now();
    /** @param {number} now */
    const tick = (now) => {
      this.request = 0;
      if (!this.playing || !this.visible) return;
      const passed = (now - this.last) / 1000;
      this.last = now;
      this.request = requestAnimationFrame(tick);
      this.frame(Math.min(passed, 0.1));
    };
    this.request = requestAnimationFrame(tick);
  }
}

const INKS = {
  light: {
    ink: "#1f2933",
    soft: "#52606d",
    paper: "#ffffff",
    line: "#d9dee4",
    low: [222, 236, 242],
    high: [232, 217, 186],
    truth: "#9b3d8a",
    halo: "rgba(255,255,255,.85)",
  },
  dark: {
    ink: "#e4e7eb",
    soft: "#b1bac4",
    paper: "#15191e",
    line: "#3a434d",
    low: [14, 54, 74],
    high: [72, 67, 60],
    truth: "#e6a3da",
    halo: "rgba(21,25,30,.8)",
  },
};
/** The colours of a picture on the ground of now. */
export const inks = () => INKS[isDark() ? "dark" : "light"];

/** The font of a text on a canvas. @param {number} size in px @param {number} weight */
export const fontOf = (size, weight) =>
  `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif`;

/**
 * Write a text on a canvas.
 * @param {Pen} pen
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {Look} look
 */
export function words(
  pen,
  text,
  x,
  y,
  {
    color = inks().ink,
    size = 13,
    align = "left",
    weight = 400,
    halo = true,
    base = "middle",
  } = {},
) {
  pen.font = fontOf(size, weight);
  pen.textAlign = align;
  pen.textBaseline = base;
  if (halo) {
    pen.lineWidth = 3.5;
    pen.strokeStyle = inks().halo;
    pen.strokeText(text, x, y);
  }
  pen.fillStyle = color;
  pen.fillText(text, x, y);
}

/**
 * Draw a method's symbol.
 * @param {Pen} pen
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {string} color
 */
export function symbol(pen, kind, x, y, r, color) {
  pen.beginPath();
  pen.lineWidth = 2.5;
  pen.strokeStyle = pen.fillStyle = color;
  if (kind === "x") {
    pen.moveTo(x - r, y - r);
    pen.lineTo(x + r, y + r);
    pen.moveTo(x + r, y - r);
    pen.lineTo(x - r, y + r);
    pen.stroke();
    return;
  }
  if (kind === "cross") {
    pen.moveTo(x - r, y);
    pen.lineTo(x + r, y);
    pen.moveTo(x, y - r);
    pen.lineTo(x, y + r);
    pen.stroke();
    return;
  }
  if (kind === "square") pen.rect(x - r, y - r, 2 * r, 2 * r);
  else if (kind === "triangle-up") {
    pen.moveTo(x, y - 1.2 * r);
    pen.lineTo(x + 1.1 * r, y + r);
    pen.lineTo(x - 1.1 * r, y + r);
    pen.closePath();
  } else pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.fill();
  pen.lineWidth = 1.5;
  pen.strokeStyle = inks().paper;
  pen.stroke();
}

/**
 * A small canvas with a pixel for each place of a grid, in the colours of a loss.
 * @param {ArrayLike<number>} share from 0, the lowest loss, to 1
 * @param {number} rows
 * @param {number} columns
 * @param {(row: number, column: number) => number} light that is added, as a share
 */
export function reliefOf(share, rows, columns, light = () => 0) {
  const { low, high } = inks();
  return pixels(rows, columns, (k) => {
    const bright = 1 + light(Math.floor(k / columns), k % columns);
    return low.map((v, c) => (v + (high[c] - v) * share[k]) * bright);
  });
}

/**
 * A small canvas with a pixel for each place of a grid.
 * @param {number} rows
 * @param {number} columns
 * @param {(k: number) => number[]} colorAt red, green and blue of the k-th place, row by row
 */
export function pixels(rows, columns, colorAt) {
  const canvas = element("canvas", { width: columns, height: rows });
  const pen = penOf(canvas);
  const image = pen.createImageData(columns, rows);
  for (let k = 0; k < rows * columns; k++) image.data.set([...colorAt(k), 255], 4 * k);
  pen.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Line segments [x, y, x, y] in cells of the grid values[row][column] where it crosses `level`.
 * @param {ArrayLike<number>} values
 * @param {number} rows
 * @param {number} columns
 * @param {number} level
 */
export function levelLines(values, rows, columns, level) {
  const lines = [],
    cross = (/** @type {number} */ a, /** @type {number} */ b) => (level - a) / (b - a);
  for (let i = 0; i + 1 < rows; i++)
    for (let j = 0; j + 1 < columns; j++) {
      const k = i * columns + j,
        a = values[k],
        b = values[k + 1],
        c = values[k + columns + 1],
        d = values[k + columns],
        at = [];
      if (a < level !== b < level) at.push([j + cross(a, b), i]);
      if (b < level !== c < level) at.push([j + 1, i + cross(b, c)]);
      if (d < level !== c < level) at.push([j + cross(d, c), i + 1]);
      if (a < level !== d < level) at.push([j, i + cross(a, d)]);
      for (let p = 0; p + 1 < at.length; p += 2) lines.push([...at[p], ...at[p + 1]]);
    }
  return lines;
}

/**
 * Stroke the lines of a grid of rows and columns over a whole canvas.
 * @param {Pen} pen
 * @param {number[][]} lines
 * @param {number} rows
 * @param {number} columns
 * @param {number} width
 * @param {number} height
 */
export function strokeLines(pen, lines, rows, columns, width, height) {
  pen.beginPath();
  for (const [a, b, c, d] of lines) {
    pen.moveTo((a / (columns - 1)) * width, (b / (rows - 1)) * height);
    pen.lineTo((c / (columns - 1)) * width, (d / (rows - 1)) * height);
  }
  pen.stroke();
}
