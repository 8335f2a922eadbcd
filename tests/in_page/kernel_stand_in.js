// Give a view a model and a channel as JupyterLab does; this script answers in place of the kernel.
async ({ loader, explorer, plotly, index, records, traits, busy }) => {
  const events = () => {
    const heard = [];
    return {
      on: (name, f) => { heard.push([name, f]); },
      off: (name, f) => { heard.splice(0, heard.length, ...heard.filter(([n, g]) => n !== name || g !== f)); },
      tell: (name, ...what) => [...heard].filter(([n]) => n === name).forEach(([, f]) => f(...what)),
    };
  };
  const bytes = (text) => new DataView(new TextEncoder().encode(text).buffer);
  const channel = window.channel = { ...events(), attributes: {}, state_change: Promise.resolve() };
  const record = new DataView(Uint8Array.from(atob(records), (c) => c.charCodeAt(0)).buffer);
  let posts = 0;
  channel.post = (content, buffers = []) => {
    channel.attributes[`post ${posts++}`] = { ...content, buffers };
    channel.tell("change");
  };
  const all = () => {
    channel.post({ kind: "front end" }, [bytes(explorer), bytes(plotly)]);
    channel.post({ kind: "traits", traits });
    channel.post({ kind: "family", index }, [record]);
  };
  channel.send = ({ want }) => {
    if (busy) throw new Error("a busy kernel hears nothing");
    if (want === "all") setTimeout(all);
  };
  if (busy) all();                                              // with the cell that showed the view
  const state = { radius: 99, n_draws: 1, method: "none", front: "this one", channel: "IPY_MODEL_c" };
  const model = { ...events(), get: (key) => state[key], save_changes() {} };
  model.set = (key, value) => {
    const changed = typeof key === "object" ? key : { [key]: value };
    Object.assign(state, changed);
    Object.keys(changed).forEach((name) => model.tell(`change:${name}`));
  };
  model.send = () => { throw new Error("a slow page never answers this"); };
  model.widget_manager = { get_model: async (id) => { if (id !== "c") throw new Error(id); return channel; } };
  const url = URL.createObjectURL(new Blob([loader], { type: "text/javascript" }));
  const { default: view } = await import(url);
  for (const el of document.querySelectorAll("div")) await view.render({ model, el });
}
