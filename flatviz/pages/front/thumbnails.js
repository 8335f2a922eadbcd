// ---- images of a member, as data URLs and parts of an SVG
import { element, penOf } from "./elements.js";
import { bytesOf } from "./records.js";

/** @import { ImageMeta, Images, Member, Pixels } from "./types.d.ts" */

const DIVERGED = 255;
const LEVELS = 254; // of a probability as one byte

/**
 * What a member says of its images.
 * @param {Member} member
 * @returns {Images}
 */
export function imagesOf(member) {
  member.images ??= unpacked(member.meta.images);
  return member.images;
}

/**
 * @param {ImageMeta} meta
 * @returns {Images}
 */
function unpacked({ pool, labels, shown, nats, n_draws, classes, probs }) {
  const bytes = bytesOf(probs);
  return {
    classes,
    kept: (n) => Math.min(n, n_draws),
    prob(draw, place, label) {
      const level = bytes[(draw * pool.length + place) * classes.length + label];
      return level === DIVERGED ? NaN : level / LEVELS;
    },
    of: (n) =>
      shown[n - 1].map((place, k) => ({
        place,
        row: pool[place],
        label: labels[place],
        nats: nats[n - 1][k],
      })),
  };
}

/** @type {WeakMap<object, { bytes: Uint8Array, urls: Map<number, string> }>} */
const pictures = new WeakMap(); // images of a bundle or a member -> data URLs by row

/**
 * The image at a row of the test split, as a data URL: from the first store that has it.
 * @param {number} row
 * @param {(Partial<Pixels> | undefined)[]} stores
 */
export function imageUrl(row, ...stores) {
  for (const store of stores) {
    const { rows = [], pixels = "", shape = [] } = store ?? {};
    const place = rows.indexOf(row);
    if (!store || place < 0) continue;
    const made = pictures.get(store) ?? { bytes: bytesOf(pixels), urls: new Map() };
    pictures.set(store, made);
    const url = made.urls.get(row) ?? urlOf(made.bytes, place, shape);
    made.urls.set(row, url);
    return url;
  }
  return "";
}

/**
 * An image as a data URL.
 * @param {Uint8Array} bytes of all images
 * @param {number} place
 * @param {number[]} shape height, width and channels
 */
function urlOf(bytes, place, [h, w, channels = 1]) {
  const canvas = element("canvas", { width: w, height: h });
  const pen = penOf(canvas);
  const image = pen.createImageData(w, h);
  for (let i = 0; i < h * w; i++) {
    const at = (place * h * w + i) * channels;
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = bytes[at + (channels > 1 ? c : 0)];
    image.data[4 * i + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

export const NAME = 12; // characters of a class's name below the chart
/**
 * A text of at most so many characters.
 * @param {string} text
 * @param {number} most
 */
export const cut = (text, most) =>
  text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
/** A share as percent. @param {number} p */
export const percent = (p) => `${(100 * p).toFixed(0)} %`;
