// ---- images of a member, as data URLs and parts of an SVG
import { element } from "./elements.js";
import { bytesOf } from "./records.js";

const DIVERGED = 255;
const LEVELS = 254; // of a probability as one byte

// What a member says of its images: `prob(draw, place, class)`, and `of(n)`, the images at ensemble
// size n as
// [{ place, row, label, nats }], those of most disagreement first.
export function imagesOf(member) {
  if (!member.images) {
    const { pool, labels, shown, nats, n_draws, classes, probs } = member.meta.images;
    const bytes = bytesOf(probs);
    member.images = {
      classes,
      kept: (n) => Math.min(n, n_draws),
      prob(draw, place, c) {
        const level = bytes[(draw * pool.length + place) * classes.length + c];
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
  return member.images;
}

const pictures_of_rows = new WeakMap(); // bundle's images -> row -> data URL

// The image at a row of the test split, as a data URL: from the member's own pixels where it
// brought some.
export function imageUrl(row, ...stores) {
  for (const store of stores) {
    const place = store?.rows?.indexOf(row) ?? -1;
    if (place < 0) continue;
    if (!pictures_of_rows.has(store))
      pictures_of_rows.set(store, { bytes: bytesOf(store.pixels), urls: new Map() });
    const { bytes, urls } = pictures_of_rows.get(store);
    const [h, w, channels = 1] = store.shape;
    if (!urls.has(row)) {
      const canvas = element("canvas", { width: w, height: h });
      const context = canvas.getContext("2d");
      const image = context.createImageData(w, h);
      for (let i = 0; i < h * w; i++) {
        for (let c = 0; c < 3; c++)
          image.data[4 * i + c] =
            bytes[place * h * w * channels + i * channels + (channels > 1 ? c : 0)];
        image.data[4 * i + 3] = 255;
      }
      context.putImageData(image, 0, 0);
      urls.set(row, canvas.toDataURL());
    }
    return urls.get(row);
  }
  return "";
}

export const NAME = 12; // characters of a class's name below the chart
export const cut = (text, most) =>
  text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
export const percent = (p) => `${(100 * p).toFixed(0)} %`;
