// What a page, the site and the lab ask of the front end; `start` is the page's own beginning.
import { bytesOf, joined } from "./records.js";
import { show } from "./explorer.js";

export { isDark, learnColors, onThemeChange, recolored } from "./colors.js";
export { show };

/** @import { Model } from "./types.d.ts" */

/** A part of the page. @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** What a part of the page holds as JSON. @param {string} id */
const data = (id) => JSON.parse(part(id).textContent ?? "");
/** Once the browser has painted what is there. */
const painted = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
  });

/** The bytes that a part of the page holds deflated. @param {string} id */
async function inflated(id) {
  const stream = new Blob([bytesOf(data(id))])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Show the family that this page holds, once its text can be read: plotly.js, 5 MB of code, stands
 * in the page as text until then.
 */
export async function start() {
  performance.mark("flatviz-start");
  const state = data("flatviz-start");
  const el = part("explorer");
  /** @type {Model} */
  const model = {
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
    },
    save_changes() {},
    on() {},
    off() {},
  };
  if (!globalThis.DecompressionStream)
    el.textContent = "The pictures on this page need a browser of 2023 or later.";
  await painted();
  const [index, planes] = await Promise.all([
    inflated("flatviz-index"),
    inflated("flatviz-records"),
  ]);
  const code = document.createElement("script");
  code.textContent = part("plotly").textContent;
  document.head.append(code);
  const bundle = { index: JSON.parse(new TextDecoder().decode(index)), buffer: joined(planes) };
  show({ Plotly: globalThis.Plotly, model, el, bundle, hash: true });
}
