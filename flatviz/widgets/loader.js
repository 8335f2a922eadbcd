// What every view carries, hence small.  The front end itself and plotly.js come from the kernel as one message a page,
// the family's arrays as one message a model; neither becomes part of a saved notebook.

const pages = (globalThis.flatvizFrontEnds ??= new Map());      // version -> promise of { show, Plotly }
const families = new WeakMap();                                 // model -> { bundle, extras, views }

function ask(model, want) {
  return new Promise((resolve) => {
    const answer = (content, buffers) => {
      if (content.kind !== want) return;
      model.off("msg:custom", answer);
      resolve({ content, buffers });
    };
    model.on("msg:custom", answer);
    model.send({ want });
  });
}

function moduleFrom(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url).finally(() => URL.revokeObjectURL(url));
}

function frontEnd(model) {
  const version = model.get("front");
  if (!pages.has(version)) {
    const load = async () => {
      const { buffers } = await ask(model, "front end");
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

function family(model) {
  if (!families.has(model)) {
    const own = { bundle: undefined, extras: [], views: new Set() };
    families.set(model, own);
    model.on("msg:custom", (content, buffers) => {
      if (content.kind !== "family" && content.kind !== "member") return;
      const bundle = { index: JSON.parse(content.index), buffer: buffers[0] };
      if (content.kind === "family") Object.assign(own, { bundle, extras: [] });
      else own.extras.push(bundle);
      for (const view of own.views) view(content.kind, bundle);
    });
    model.send({ want: "family" });                             // answered as soon as there is one
  }
  return families.get(model);
}

export default {
  render({ model, el }) {
    el.textContent = "This view asks its kernel for the data: run the notebook, or wait for the first fit.";
    let shown, gone = false;
    const own = family(model);
    const start = async () => {
      try {
        const { show, Plotly } = await frontEnd(model);
        if (gone || !own.bundle) return;
        shown?.stop();
        shown = show({ Plotly, model, el, bundle: own.bundle });
        for (const extra of own.extras) shown.add(extra);
      } catch (error) {
        el.textContent = `The view could not start: ${error}`;
      }
    };
    const view = (kind, bundle) => (kind === "member" && shown ? shown.add(bundle) : start());
    own.views.add(view);
    start();
    return () => { gone = true; own.views.delete(view); shown?.stop(); };
  },
};
