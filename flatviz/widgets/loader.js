// What every view carries, hence small.  The front end itself and plotly.js come from the kernel as one message a page,
// the family's arrays as one message a widget; neither becomes part of a saved notebook.
//
// The messages come through a plain widget model of their own, `channel`: a model of anywidget refuses every message for
// good where its module took more than two seconds to load, and on a slow machine a page full of plots takes longer.

const pages = (globalThis.flatvizFrontEnds ??= new Map());      // version -> promise of { show, Plotly }
const families = new WeakMap();                                 // channel -> { bundle, extras, views }

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
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url).finally(() => URL.revokeObjectURL(url));
}

function frontEnd(version, channel) {
  if (!pages.has(version)) {
    const load = async () => {
      const { buffers } = await ask(channel, "front end");
      const [explorer, plotly] = buffers.map((b) => new TextDecoder().decode(b));
      const before = globalThis.Plotly;                         // leave another plotly of the page where it was
      const wrapped = await moduleFrom(`const module = { exports: {} };\n${plotly}\nexport default module.exports;`);
      if (before) globalThis.Plotly = before;
      const { show } = await moduleFrom(explorer);
      return { show, Plotly: wrapped.default };
    };
    pages.set(version, load().catch((error) => { pages.delete(version); throw error; }));
  }
  return pages.get(version);
}

function family(model, channel) {
  if (!families.has(channel)) {
    const shared = { bundle: undefined, extras: [], views: new Set() };
    families.set(channel, shared);
    channel.on("msg:custom", (content, buffers) => {
      if (content.kind === "traits") model.set(content.traits); // where the controls stand in the kernel
      if (content.kind !== "family" && content.kind !== "member") return;
      const bundle = { index: JSON.parse(content.index), buffer: buffers[0] };
      if (content.kind === "family") Object.assign(shared, { bundle, extras: [] });
      else shared.extras.push(bundle);
      for (const view of shared.views) view(content.kind, bundle);
    });
    channel.send({ want: "family" });                           // answered as soon as there is one
  }
  return families.get(channel);
}

export default {
  async render({ model, el }) {
    el.textContent = "This view asks its kernel for the data: run the notebook, or wait for the first fit.";
    let shown, gone = false, turn = 0;
    const channel = await model.widget_manager.get_model(model.get("channel").replace("IPY_MODEL_", ""));
    const shared = family(model, channel);
    const start = async () => {
      const mine = ++turn;                                      // several may wait for the front end: the newest draws
      try {
        const { show, Plotly } = await frontEnd(model.get("front"), channel);
        if (gone || mine !== turn || !shared.bundle) return;
        shown?.stop();
        shown = show({ Plotly, model, el, bundle: shared.bundle });
        for (const extra of shared.extras) shown.add(extra);
      } catch (error) {
        el.textContent = `The view could not start: ${error}`;
      }
    };
    const view = (kind, bundle) => (kind === "member" && shown ? shown.add(bundle) : start());
    shared.views.add(view);
    start();
    return () => { gone = true; shared.views.delete(view); shown?.stop(); };
  },
};
