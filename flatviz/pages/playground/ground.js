// A ground of two weights as a picture: colour by height, light from the upper left, level lines,
// and the mass of a posterior.
import { element, penOf } from "../front/elements.js";
import { TALL, WIDE } from "./grounds.js";
import { isDark } from "../front/colors.js";
import { inks, levelLines, reliefOf, strokeLines } from "./ink.js";
import { Board } from "./ui.js";

/** @import { Draw, Loss, Pen, Scale } from "./types.d.ts" */

const COLUMNS = 181;
const ROWS = 121;
const LEVELS = 14; // lines up to the top

/**
 * The place of a pointer in weights.
 * @param {HTMLCanvasElement} canvas
 * @param {{ clientX: number, clientY: number }} e
 */
export function placeOn(canvas, e) {
  const box = canvas.getBoundingClientRect();
  return [
    WIDE[0] + ((e.clientX - box.left) / box.width) * (WIDE[1] - WIDE[0]),
    TALL[1] - ((e.clientY - box.top) / box.height) * (TALL[1] - TALL[0]),
  ];
}

/** @typedef {{ whole: HTMLCanvasElement, width: number, height: number, dark: boolean }} Relief */
/**
 * What lies on a ground is drawn with a pen, X and Y from weights to pixels, and pixels a weight.
 * @typedef {(pen: Pen, X: Scale, Y: Scale, unit: number, height: number) => void} Paint
 */

/** A ground of two weights as a picture. */
export class Ground {
  /** @type {Loss | null} */
  loss = null;
  top = 1;
  /** @type {Relief | null} */
  relief = null; // the picture that is drawn, and for which size and theme it is
  /** @type {number[][][] | null} */
  density = null; // level lines

  /** @param {Paint} paint */
  constructor(paint) {
    /** @type {Draw} */
    const draw = (pen, width, height) => {
      const { loss } = this;
      if (!loss) return;
      const unit = width / (WIDE[1] - WIDE[0]);
      const known = this.relief;
      const same = known?.width === width && known.height === height && known.dark === isDark();
      this.relief = same ? known : this.reliefFor(loss, width, height);
      pen.drawImage(this.relief.whole, 0, 0, width, height);
      const X = (/** @type {number} */ x) => (x - WIDE[0]) * unit;
      const Y = (/** @type {number} */ y) => (TALL[1] - y) * unit;
      paint(pen, X, Y, unit, height);
    };
    this.board = new Board(draw, { ratio: 2 / 3, label: "" });
  }

  /**
   * Show another loss. `top`: height of the loss above its least that has the last level.
   * @param {Loss} loss
   * @param {number} top
   */
  lay(loss, top) {
    this.loss = loss;
    this.top = top;
    this.relief = null;
    this.density = null;
  }

  /**
   * The colours and level lines of the loss, painted once for every drawing of this size.
   * @param {Loss} loss
   * @param {number} width
   * @param {number} height
   * @returns {Relief}
   */
  reliefFor(loss, width, height) {
    const dark = isDark();
    const [shade, shine, steep] = dark ? [0.45, 0.6, 4] : [0.22, 0.14, 1.7];
    const values = heights(loss);
    const low = Math.min(...values);
    const share = values.map((v) => {
      const t = (v - low) / this.top;
      return t < 1 ? 0.75 * t : 1 - 0.25 / t;
    });
    const light = lightOf(share, ROWS, COLUMNS, steep);
    const small = reliefOf(share, ROWS, COLUMNS, (i, j) =>
      Math.max(-shade, Math.min(shine, light(i, j))),
    );
    const { dense } = this.board;
    const [wide, tall] = [width * dense, height * dense];
    const whole = element("canvas", { width: wide, height: tall });
    const pen = penOf(whole);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(small, 0, 0, wide, tall);
    pen.scale(wide / (COLUMNS - 1), tall / (ROWS - 1));
    pen.strokeStyle = dark ? "rgba(190,225,235,.28)" : "rgba(60,70,80,.2)";
    for (let level = 1; level <= LEVELS; level++) {
      pen.lineWidth = ((COLUMNS - 1) / width) * (level % 4 ? 0.8 : 1.4);
      const lines = levelLines(share, ROWS, COLUMNS, level / (LEVELS + 1));
      strokeLines(pen, lines, ROWS, COLUMNS, COLUMNS - 1, ROWS - 1);
    }
    return { whole, width, height, dark };
  }

  /**
   * Draw lines of the posterior density at temperature T that hold 50 % and 95 % of its mass.
   * @param {Pen} pen
   * @param {number} width
   * @param {number} height
   * @param {number} T
   * @param {number} priorStd
   */
  drawMass(pen, width, height, T, priorStd) {
    if (!this.loss) return;
    this.density ??= massOf(this.loss, T, priorStd);
    pen.strokeStyle = inks().truth;
    this.density.forEach((lines, i) => {
      pen.lineWidth = i ? 1.4 : 2.4;
      strokeLines(pen, lines, ROWS, COLUMNS, width, height);
    });
  }
}

/**
 * How much light a place of a grid gets from the upper left: a wall that rises to the right and
 * down the screen faces it and is bright; a hollow's far wall is one, its near wall is dark.
 * @param {ArrayLike<number>} height row by row, the first row the uppermost of the picture
 * @param {number} rows
 * @param {number} columns
 * @param {number} steep light for a rise of 1 between neighbours of neighbours
 * @returns {(row: number, column: number) => number} that is added, as a share
 */
export function lightOf(height, rows, columns, steep) {
  const at = (/** @type {number} */ i, /** @type {number} */ j) => {
    const row = Math.max(0, Math.min(rows - 1, i));
    const column = Math.max(0, Math.min(columns - 1, j));
    return height[row * columns + column];
  };
  return (i, j) => {
    const dx = at(i, j + 1) - at(i, j - 1);
    const dy = at(i + 1, j) - at(i - 1, j);
    return steep * (dx + dy);
  };
}

/** The place in weights of the k-th value of the grid, row by row. @param {number} k */
const placeAt = (k) => [
  WIDE[0] + ((k % COLUMNS) / (COLUMNS - 1)) * (WIDE[1] - WIDE[0]),
  TALL[1] - (Math.floor(k / COLUMNS) / (ROWS - 1)) * (TALL[1] - TALL[0]),
];

/** The loss at every place of the grid. @param {Loss} loss */
const heights = (loss) =>
  Float64Array.from({ length: ROWS * COLUMNS }, (_, k) => loss.both(placeAt(k), null));

/**
 * The lines of the posterior density that hold 50 % and 95 % of its mass.
 * @param {Loss} loss
 * @param {number} T
 * @param {number} priorStd
 */
function massOf(loss, T, priorStd) {
  const values = heights(loss);
  const low = Math.min(...values);
  const density = values.map((v, k) => {
    const [x, y] = placeAt(k);
    return Math.exp(-(v - low) / T - (0.5 * (x * x + y * y)) / priorStd ** 2);
  });
  const order = Array.from(density).sort((a, b) => b - a);
  const total = order.reduce((sum, v) => sum + v, 0);
  return [0.5, 0.95].map((share) => {
    let sum = 0;
    const level = order.find((v) => (sum += v) >= share * total) ?? 0;
    return levelLines(density, ROWS, COLUMNS, level);
  });
}
