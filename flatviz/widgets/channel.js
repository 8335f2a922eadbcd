// What every view of a notebook carries first, hence small: the front end and plotly.js come from
// the kernel as one message a
// page, and never become part of a saved notebook.
//
// The messages come through a plain widget model of their own, `channel`: a model of anywidget
// refuses every message for
// good where its module took more than two seconds to load, and on a slow machine a page full of
// plots takes longer.

const pages = (globalThis.flatvizFrontEnds ??= new Map()); // version -> promise of { show, Plotly }
export const channelOf = (model) =>
  model.widget_manager.get_model(model.get("channel").replace("IPY_MODEL_", ""));

function ask(channel, want) {
  return new Promise((resolve) => {
    const answer = (content, buffers) => {
      if (content.kind !== want) return;
      channel.off("msg:custom", answer);
      resolve({ content, buffers });
    };
    channel.on("msg:custom", answer);
    channel.send({ want });
  });
}

function moduleFrom(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url).finally(() =>
    URL.revokeObjectURL(url),
  );
}

export function frontEnd(version, channel) {
  if (!pages.has(version)) {
    const load = async () => {
      const { buffers } = await ask(channel, "front end");
      const [explorer, plotly] = buffers.map((b) => new TextDecoder().decode(b));
      const before = globalThis.Plotly; // leave another plotly of the page where it was
      const wrapped = await moduleFrom(
        `const module = { exports: {} };\n${plotly}\nexport default module.exports;`,
      );
      if (before) globalThis.Plotly = before;
      const { show } = await moduleFrom(`${explorer}\nexport const { show } = flatvizExplorer;`);
      return { show, Plotly: wrapped.default };
    };
    pages.set(
      version,
      load().catch((error) => {
        pages.delete(version);
        throw error;
      }),
    );
  }
  return pages.get(version);
}
