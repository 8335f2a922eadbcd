// ---- elements, numbers as words, and images: what the explorer and the playground both need

/** @typedef {string | number | boolean | null | undefined | ((event: never) => void)} Value */

/**
 * Make an element. An attribute `on…` is a listener; true gives an attribute without a value;
 * false, null and undefined give none, and such children are left out too.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Value>} attributes
 * @param {(Node | string | null | undefined)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function")
      made.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/**
 * Make an element of an SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean>} attributes
 * @param {(Node | string)[]} children
 */
export function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/**
 * Make a button.
 * @param {string} text
 * @param {string} title what it does, shown on hover
 * @param {(event: MouseEvent) => void} click
 * @param {Record<string, Value>} more attributes
 */
export const button = (text, title, click, more = {}) =>
  element("button", { type: "button", title, onclick: click, ...more }, text);

/** What draws on a canvas. @param {HTMLCanvasElement} canvas */
export const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** A number with three digits. @param {number} x */
export const short = (x) => Number(x.toPrecision(3)).toString();

/**
 * A number and what it counts: "1 draw", "2 draws".
 * @param {number} n
 * @param {string} what
 */
export const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** Whether the reader's system asks for no motion. */
export const STILL = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)") ?? {
  matches: false,
};

/** The image of a data URL, once it can be drawn. @param {string} url */
export async function loaded(url) {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

/**
 * Save what a URL holds as a file.
 * @param {string} url
 * @param {string} name of the file
 */
export function download(url, name) {
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}
