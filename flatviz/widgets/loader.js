// A view of a family of posteriors.
import { channelOf, frontEnd, receive } from "./channel.js";

/** @import { show } from "../pages/front/explorer.js" */
/** @import { Model } from "../pages/front/types.d.ts" */
/** @import { Channel, Family, Message, News, ViewModel } from "./types.d.ts" */

/** @type {WeakMap<Channel, Family>} */
const families = new WeakMap();
const LOST =
  "The kernel that made this view has ended. What was fitted can still be looked at; run the " +
  "cell again to fit more.";

/**
 * Take what a message brings into what is known of a family. Returns what its views hear of it, or
 * null where it is sent again, for another page.
 * @param {ViewModel} model
 * @param {Family} shared
 * @param {Message} content
 * @returns {News | null}
 */
function taken(model, shared, content) {
  if (content.kind === "front end") {
    shared.front = true;
    const page = frontEnd(model.get("front"));
    page.asked = true;
    page.offer(content.buffers);
    return content;
  }
  if (content.kind === "traits") {
    model.set(content.traits); // where the controls stand in the kernel
    return content;
  }
  if (content.kind === "status") {
    shared.status = content;
    return content;
  }
  const { kind, index } = content;
  if (kind === "family" && index === shared.index) return null;
  const bundle = { index: JSON.parse(index), buffer: content.buffers[0] };
  if (kind === "family") {
    shared.bundle = bundle;
    shared.index = index;
    shared.extras = [];
  } else shared.extras.push(bundle);
  return { kind, bundle };
}

/**
 * What came through this channel, heard from the moment its model is there.
 * @param {ViewModel} model
 * @param {Channel} channel
 */
function family(model, channel) {
  const known = families.get(channel);
  if (known) return known;
  /** @type {Family} */
  const shared = { extras: [], front: false, views: new Set() };
  families.set(channel, shared);
  receive(channel, (content) => {
    const news = taken(model, shared, content);
    if (news) for (const view of shared.views) view(news);
  });
  return shared;
}

/**
 * Hide the picture that the notebook keeps of a view while the view is live, also where the kernel
 * replaces it. Returns what shows it again.
 * @param {string} name
 */
function hideStill(name) {
  const style = document.createElement("style");
  style.textContent = `.jp-OutputArea-child:has(.flatviz-still[data-view='${name}']) { display: none }`;
  document.head.append(style);
  return () => style.remove();
}

/**
 * Let the bar stick in JupyterLab's windowed notebook, which moves its cells by a transform that a
 * sticky bar does not know: it sticks that much higher. Returns what ends that.
 * @param {HTMLElement} el
 */
function pin(el) {
  /** @type {Element | null} */
  let cells = null;
  const place = () => {
    if (!cells) return;
    const { m42 } = new DOMMatrix(getComputedStyle(cells).transform);
    el.style.setProperty("--fv-top", `${-m42}px`);
  };
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

/** A view in an element: it waits for the front end and for a family, and shows what comes. */
class View {
  /** @type {ReturnType<typeof show> | null} */
  shown = null;
  gone = false;
  turn = 0; // of those that wait for the front end

  /**
   * @param {ViewModel} model
   * @param {HTMLElement} el
   * @param {Channel} channel
   * @param {HTMLElement} waiting what is read until there is a picture
   */
  constructor(model, el, channel, waiting) {
    this.model = model;
    this.el = el;
    this.channel = channel;
    this.waiting = waiting;
    this.shared = family(model, channel);
  }

  /** Tell the kernel; JupyterLab refuses where it is gone. @param {() => void} send */
  tell(send) {
    try {
      send();
    } catch {
      this.shown?.lost(LOST);
    }
  }

  /** Ask the kernel. @param {string} want */
  ask(want, what = {}) {
    this.tell(() => this.channel.send({ want, ...what }));
  }

  /** The model of the controls. @returns {Model} */
  get controls() {
    const { model } = this;
    return {
      get: (name) => model.get(name),
      set: (name, value) => model.set(name, value),
      save_changes: () => this.tell(() => model.save_changes()),
      on: (event, callback) => model.on(event, callback),
      off: (event, callback) => model.off?.(event, callback),
    };
  }

  /** Show the family; several may wait for the front end: the newest draws. */
  async start() {
    const { model, el, channel, shared } = this;
    this.turn += 1;
    const mine = this.turn;
    try {
      const { show, Plotly } = await frontEnd(model.get("front")).loaded;
      const { bundle } = shared;
      if (this.gone || mine !== this.turn || !bundle) return;
      this.shown?.stop();
      const { activeElement: active } = document;
      const focused = el.contains(active) && active?.getAttribute("aria-label");
      const shown = show({
        Plotly,
        model: this.controls,
        el,
        bundle,
        ask: (want, what) => this.ask(want, what),
        former: this.shown?.history,
      });
      this.shown = shown;
      for (const extra of shared.extras) shown.add(extra);
      const again = focused ? el.querySelector(`[aria-label="${focused}"]`) : null;
      if (again instanceof HTMLElement) again.focus({ preventScroll: true });
      if (shared.status) shown.status(shared.status);
      if (channel.comm_live === false) shown.lost(LOST);
    } catch (error) {
      el.textContent = `The view could not start: ${error}`;
    }
  }

  /** Take what the kernel sent. @param {News} news */
  hear(news) {
    const { shown, waiting } = this;
    if (news.kind === "status") {
      if (shown) shown.status(news);
      else waiting.textContent = [news.text, news.error].filter(Boolean).join("\n");
    } else if (news.kind === "member" && shown) shown.add(news.bundle);
    else if (news.kind === "family" || news.kind === "member") this.start();
  }

  /** Say that the kernel is gone, if it is. */
  checkKernel() {
    if (this.channel.comm_live !== false) return;
    if (this.shown) this.shown.lost(LOST);
    else this.waiting.textContent = LOST;
  }
}

/** The view as a widget of anywidget. */
export default {
  /** @param {{ model: ViewModel }} given */
  async initialize({ model }) {
    family(model, await channelOf(model));
  },
  /** @param {{ model: ViewModel, el: HTMLElement }} given */
  async render({ model, el }) {
    const waiting = document.createElement("p");
    waiting.textContent = "No picture yet: run the notebook, or wait for the first fit.";
    el.replaceChildren(waiting);
    const channel = await channelOf(model);
    const view = new View(model, el, channel, waiting);
    const { shared } = view;
    await channel.state_change; // messages that came before this view are attributes now
    const unhide = hideStill(model.get("channel").replace("IPY_MODEL_", ""));
    const unpin = pin(el);
    const lost = () => view.checkKernel();
    const hear = (/** @type {News} */ news) => view.hear(news);
    channel.on("comm_live_update", lost);
    shared.views.add(hear);
    if (shared.status) hear({ ...shared.status, kind: "status" });
    if (!shared.front && channel.comm_live !== false) {
      // this page opened after the cell ran
      const page = frontEnd(model.get("front"));
      view.ask("all", { front: !page.asked });
      page.asked = true;
    }
    view.start();
    return () => {
      view.gone = true;
      channel.off("comm_live_update", lost);
      shared.views.delete(hear);
      unhide();
      unpin();
      view.shown?.stop();
    };
  },
};
