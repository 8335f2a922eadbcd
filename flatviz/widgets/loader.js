// A view of a family of posteriors.
import { channelOf, frontEnd, receive } from "./channel.js";

const families = new WeakMap(); // channel -> { bundle, extras, status, front, views }
const LOST =
  "The kernel that made this view has ended. What was fitted can still be looked at; run the " +
  "cell again to fit more.";

// What came through this channel, heard from the moment its model is there.
function family(model, channel) {
  if (!families.has(channel)) {
    const shared = {
      bundle: undefined,
      index: undefined,
      extras: [],
      status: undefined,
      front: false,
      views: new Set(),
    };
    families.set(channel, shared);
    receive(channel, (content) => {
      if (content.kind === "front end") {
        shared.front = true;
        const page = frontEnd(model.get("front"));
        page.asked = true;
        page.offer(content.buffers);
      }
      // where the controls stand in the kernel
      if (content.kind === "traits") model.set(content.traits);
      if (content.kind === "status") shared.status = content;
      // sent again, for another page
      if (content.kind === "family" && content.index === shared.index) return;
      if (content.kind === "family" || content.kind === "member") {
        const bundle = { index: JSON.parse(content.index), buffer: content.buffers[0] };
        if (content.kind === "family")
          Object.assign(shared, { bundle, index: content.index, extras: [] });
        else /** @type {any[]} */ (shared.extras).push(bundle);
        content = { kind: content.kind, bundle };
      }
      for (const view of shared.views) view(content);
    });
  }
  return families.get(channel);
}

// While a view is live, the picture that the notebook keeps of it is hidden, also where the kernel replaces it.
function hideStill(name) {
  const style = document.createElement("style");
  style.textContent = `.jp-OutputArea-child:has(.flatviz-still[data-view='${name}']) { display: none }`;
  document.head.append(style);
  return () => style.remove();
}

// JupyterLab's windowed notebook moves its cells by a transform, which a sticky bar does not know: it sticks that much higher.
function pin(el) {
  let cells = null;
  const place = () =>
    el.style.setProperty("--fv-top", `${-new DOMMatrix(getComputedStyle(cells).transform).m42}px`);
  const moved = new MutationObserver(place);
  const attached = new ResizeObserver(() => {
    const now = el.closest(".jp-WindowedPanel-viewport");
    if (now === cells) return;
    cells = now;
    moved.disconnect();
    el.style.removeProperty("--fv-top");
    if (!cells) return;
    moved.observe(cells, { attributes: true, attributeFilter: ["style"] });
    place();
  });
  attached.observe(el);
  return () => {
    attached.disconnect();
    moved.disconnect();
  };
}

export default {
  async initialize({ model }) {
    family(model, await channelOf(model));
  },
  async render({ model, el }) {
    const waiting = document.createElement("p");
    waiting.textContent = "No picture yet: run the notebook, or wait for the first fit.";
    el.replaceChildren(waiting);
    let shown;
    let gone = false;
    let turn = 0;
    const reference = model.get("channel").replace("IPY_MODEL_", "");
    const channel = await channelOf(model);
    const shared = family(model, channel);
    await channel.state_change; // messages that came before this view are attributes now
    const unhide = hideStill(reference);
    // JupyterLab refuses where the kernel is gone
    const tell = (send) => {
      try {
        send();
      } catch {
        shown?.lost(LOST);
      }
    };
    const send = (want, what = {}) => tell(() => channel.send({ want, ...what }));
    const controls = {
      get: (name) => model.get(name),
      set: (...what) => model.set(...what),
      save_changes: () => tell(() => model.save_changes()),
    };
    for (const name of ["on", "off"]) controls[name] = (...what) => model[name](...what);
    const unpin = pin(el);
    const start = async () => {
      // several may wait for the front end: the newest draws
      const mine = ++turn;
      try {
        const { show, Plotly } = await frontEnd(model.get("front")).loaded;
        if (gone || mine !== turn || !shared.bundle) return;
        shown?.stop();
        const focused =
          el.contains(document.activeElement) && document.activeElement?.getAttribute("aria-label");
        shown = show({
          Plotly,
          model: controls,
          el,
          bundle: shared.bundle,
          ask: send,
          former: shown?.history,
        });
        for (const extra of shared.extras) shown.add(extra);
        if (focused) el.querySelector(`[aria-label="${focused}"]`)?.focus({ preventScroll: true });
        if (shared.status) shown.status(shared.status);
        if (channel.comm_live === false) shown.lost(LOST);
      } catch (error) {
        el.textContent = `The view could not start: ${error}`;
      }
    };
    const status = (content) => {
      if (shown) shown.status(content);
      else waiting.textContent = [content.text, content.error].filter(Boolean).join("\n");
    };
    const view = (content) => {
      if (content.kind === "status") status(content);
      else if (content.kind === "member" && shown) shown.add(content.bundle);
      else if (content.kind === "family" || content.kind === "member") start();
    };
    const lost = () => {
      if (channel.comm_live === false) shown ? shown.lost(LOST) : (waiting.textContent = LOST);
    };
    channel.on("comm_live_update", lost);
    shared.views.add(view);
    if (shared.status) status(shared.status);
    if (!shared.front && channel.comm_live !== false) {
      // this page opened after the cell ran
      const page = frontEnd(model.get("front"));
      send("all", { front: !page.asked });
      page.asked = true;
    }
    start();
    return () => {
      gone = true;
      channel.off("comm_live_update", lost);
      shared.views.delete(view);
      unhide();
      unpin();
      shown?.stop();
    };
  },
};
