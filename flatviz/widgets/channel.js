// What every view of a notebook carries first, hence small: the front end and plotly.js come from
// the kernel with the cell that shows a view, and never become part of a saved notebook.
//
// The kernel sends, and a page asks only where it opens later: a page's messages wait until the
// cells that it runs have ended. Subshells (JupyterLab 4.4, ipykernel 7) do not help: a comm's
// messages go to the shell that sent on it last. That is the main shell, for the cell that shows
// the view sends on it, and a thread of the kernel counts as the cell that ran last.
//
// A message is an attribute of the `channel`, a plain widget model: there it waits for a page whose
// modules still load. A model of anywidget refuses every message for good where its module took
// more than two seconds to load.

/** @import { Channel, FrontEnd, Message, ViewModel } from "./types.d.ts" */

const pages = (globalThis.flatvizFrontEnds ??= new Map());
const POST = "post "; // names of those attributes begin so

/** The channel of a view. @param {ViewModel} model @returns {Promise<Channel>} */
export const channelOf = (model) =>
  model.widget_manager.get_model(model.get("channel").replace("IPY_MODEL_", ""));

/**
 * Call `hear` with each message, in the order of sending, from the first that waits; it is taken
 * out of the model.
 * @param {Channel} channel
 * @param {(message: Message) => void} hear
 */
export function receive(channel, hear) {
  const take = () => {
    for (const [name, message] of Object.entries(channel.attributes)) {
      if (!name.startsWith(POST)) continue;
      delete channel.attributes[name];
      hear(message);
    }
  };
  channel.on("change", take);
  take();
}

/** Import a module from its text. @param {string} text */
function moduleFrom(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url).finally(() =>
    URL.revokeObjectURL(url),
  );
}

/**
 * Load the front end from its texts.
 * @param {BufferSource[]} buffers explorer and plotly
 * @returns {Promise<Awaited<FrontEnd["loaded"]>>}
 */
async function load(buffers) {
  const [explorer, plotly] = buffers.map((b) => new TextDecoder().decode(b));
  const before = globalThis.Plotly; // leave another plotly of the page where it was
  const wrapped = await moduleFrom(
    `const module = { exports: {} };\n${plotly}\nexport default module.exports;`,
  );
  if (before) globalThis.Plotly = before;
  const { show } = await moduleFrom(`${explorer}\nexport const { show } = flatvizExplorer;`);
  return { show, Plotly: wrapped.default };
}

/**
 * The front end of this page, of this version.
 * @param {string} version
 * @returns {FrontEnd}
 */
export function frontEnd(version) {
  const known = pages.get(version);
  if (known) return known;
  const { promise, resolve: offer } = withResolvers();
  const made = { loaded: promise.then(load), offer, asked: false };
  pages.set(version, made);
  made.loaded.catch(() => pages.delete(version));
  return made;
}

/** A promise of buffers, and what keeps it. */
function withResolvers() {
  /** @type {(buffers: BufferSource[]) => void} */
  let resolve = () => {};
  /** @type {Promise<BufferSource[]>} */
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
