// Texts on a picture that do not lie over one another: the first come keep their place.
import { fontOf, words } from "./ink.js";

const GAP = 24; // px, from one side of a point to the other
const STEPS = [0, 17, -17, 34, -34, 51, -51, 68];

/** @typedef {[left: number, top: number, right: number, bottom: number]} Box */

/**
 * Whether two boxes have a point in common.
 * @param {Box} a
 * @param {Box} b
 */
export const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

/**
 * The first of the boxes that lies within the picture and over nothing that is there, else the
 * first.
 * @param {Box[]} boxes
 * @param {Box[]} taken
 * @param {number} width
 * @param {number} height
 */
export function free(boxes, taken, width, height) {
  const inside = (/** @type {Box} */ [left, top, right, bottom]) =>
    left >= 2 && top >= 2 && right <= width - 2 && bottom <= height - 2;
  return boxes.find((box) => inside(box) && !taken.some((one) => overlap(box, one))) ?? boxes[0];
}

/** The texts of a picture, which keep out of each other's way. */
export class Labels {
  /** @type {Box[]} */
  taken = [];

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} width
   * @param {number} height
   */
  constructor(pen, width, height, left = 4) {
    this.pen = pen;
    this.left = left;
    this.width = width;
    this.height = height;
  }

  /**
   * Keep texts away from a point.
   * @param {number} x
   * @param {number} y
   */
  avoid(x, y, r = 7) {
    this.taken.push([x - r, y - r, x + r, y + r]);
  }

  /**
   * Write a text at x, y, or above or below, or on the other side of x.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {import("./types.d.ts").Look} look
   */
  put(text, x, y, look = {}) {
    const { size = 13, weight = 400, align = "left" } = look;
    this.pen.font = fontOf(size, weight);
    const wide = this.pen.measureText(text).width;
    const sides = {
      left: [x, x - wide - GAP],
      center: [x - wide / 2],
      right: [x - wide, x + GAP],
    };
    const lefts = sides[align].map((from) =>
      Math.max(this.left, Math.min(this.width - wide - 4, from)),
    );
    const boxes = lefts.flatMap((left) =>
      STEPS.map((by) => /** @type {Box} */ ([left, y + by - 8, left + wide, y + by + 8])),
    );
    const box = free(boxes, this.taken, this.width, this.height);
    this.taken.push(box);
    words(this.pen, text, box[0], box[1] + 8, { ...look, align: "left" });
  }
}
