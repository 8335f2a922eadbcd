// What canvases share: the colours of methods and of the page, texts, symbols, images of a grid and
// its level lines. METHOD_STYLES comes from the Python theme: name -> [label, light, dark, symbol].
import { isDark } from "../front/colors.js";
import { element, penOf, short } from "../front/elements.js";

/** @import { Look, Pen } from "./types.d.ts" */

/** A number with three digits, or a dash. @param {number} x */
export const two = (x) => (Number.isFinite(x) ? short(x) : "–");
/** A method's name. @param {string} method */
export const nameOf = (method) => METHOD_STYLES[method][0];
/** A method's symbol. @param {string} method */
export const symbolOf = (method) => METHOD_STYLES[method][3];
/** A method's colour on the ground of now. @param {string} method */
export const colorOf = (method) => METHOD_STYLES[method][isDark() ? 2 : 1];

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

/**
 * The font of a text on a canvas.
 * @param {number} size in px
 * @param {number} weight
 */
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
  const lines = [];
  const cross = (/** @type {number} */ a, /** @type {number} */ b) => (level - a) / (b - a);
  for (let i = 0; i + 1 < rows; i++)
    for (let j = 0; j + 1 < columns; j++) {
      const k = i * columns + j;
      const a = values[k];
      const b = values[k + 1];
      const c = values[k + columns + 1];
      const d = values[k + columns];
      const at = [];
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
