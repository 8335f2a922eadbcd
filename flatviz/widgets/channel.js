// What every view of a notebook carries first, hence small: the front end and plotly.js come from
// the kernel with the cell that shows a view, and never become part of a saved notebook.
//
// The kernel sends, and a page asks only where it opens later: a page's messages wait until the
// cells that it runs have ended.  Subshells (JupyterLab 4.4, ipykernel 7) do not help: a comm's
// messages go to the shell that sent on it last.  That is the main shell, for the cell that shows
// the view sends on it, and a thread of the kernel counts as the cell that ran last.
//
// A message is an attribute of the `channel`, a plain widget model: there it waits for a page whose
// modules still load.  A model of anywidget refuses every message for good where its module took
// more than two seconds to load.

const pages = (globalThis.flatvizFrontEnds ??= new Map()); // version -> { loaded: promise of { show, Plotly }, offer, asked }
const POST = "post "; // names of those attributes begin so
export const channelOf = (model) =>
  model.widget_manager.get_model(model.get("channel").replace("IPY_MODEL_", ""));

// Call `hear` with each message, in the order of sending, from the first that waits; it is taken
// out of the model.
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

function moduleFrom(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url).finally(() =>
    URL.revokeObjectURL(url),
  );
}

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

// The front end of this page: `offer(buffers)` loads it, once; `loaded` is the promise of it;
// `asked`: whether a view asked for it.
export function frontEnd(version) {
  if (!pages.has(version)) {
    let offer;
    const loaded = new Promise((resolve) => {
      offer = resolve;
    }).then(load);
    pages.set(version, { loaded, offer, asked: false });
    loaded.catch(() => pages.delete(version));
  }
  return pages.get(version);
}
