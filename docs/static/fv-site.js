// Formulas, figures and labs of the site. What they need is loaded when the first of them comes
// near the window, from this folder: no page asks another host for anything, and a page opened from
// the disk works too.

/** @import { Bundle, Model, PlotElement, Traits } from "../../flatviz/pages/front/types.d.ts" */

(() => {
  const PAPER = 660; // px: as wide as a figure is on paper
  const HOUSE = "#1f2933"; // colour of the words of our template
  const SCRIPTS = ["fv-layout.js", "plotly.min.js", "explorer.js"]; // of figures
  const here = /** @type {HTMLScriptElement} */ (document.currentScript);
  const base = here.src.replace(/[^/]*$/, "");
  /** @type {Record<string, Promise<unknown>>} */
  const loads = {};
  /** @type {(() => unknown)[]} */
  const drawers = [];
  let printing = false;
  /** Load a script of this folder, once. @param {string} name */
  const script = (name) =>
    (loads[name] ??= new Promise((resolve, reject) => {
      const node = document.createElement("script");
      node.src = base + name;
      node.onload = resolve;
      node.onerror = () => reject(new Error(`${name} is not there`));
      document.head.append(node);
    }));

  /** Typeset the formulas of the page. */
  async function formulas() {
    const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".math"));
    if (!all.length) return;
    const sheet = document.createElement("link");
    sheet.rel = "stylesheet";
    sheet.href = base + "katex.min.css";
    document.head.append(sheet);
    await script("katex.min.js");
    for (const node of all) {
      const text = node.textContent ?? "";
      katex.render(text, node, {
        displayMode: node.tagName === "DIV",
        throwOnError: false,
        strict: "ignore",
      });
      node.dataset.drawn = "";
      if (node.tagName === "DIV") {
        node.tabIndex = 0;
        node.setAttribute("role", "group");
        node.setAttribute("aria-label", "equation");
      }
    }
  }

  /** What an element holds as JSON. @param {Element} node */
  const dataOf = (node) =>
    JSON.parse(node.querySelector("script[type='application/json']")?.textContent ?? "");

  /**
   * Draw a figure, again on paper and when its room changes. Returns what draws it.
   * @param {HTMLElement} node
   * @param {PlotElement} plot in it
   * @param {object} config
   * @param {() => SiteFigure} current the figure to draw
   * @param {object[]} [frames]
   */
  async function picture(node, plot, config, current, frames) {
    for (const name of SCRIPTS) await script(name);
    const { isDark, recolored, onThemeChange } = flatvizExplorer;
    const { widthNeeded, laidOut } = flatvizLayout;
    // a slide shows a figure whole
    const room = node.closest(".slide") ? 0.48 * innerHeight : Infinity;
    // another template stays on white
    const house = current().layout.template?.layout?.font?.color === HOUSE;
    plot.style.minWidth = `${widthNeeded(current())}px`;
    node.style.minHeight = "0";
    const draw = () => {
      const width = printing ? PAPER : plot.clientWidth || node.clientWidth;
      const { data = [], ...shown } = structuredClone(current());
      const dark = house && isDark() && !printing;
      const layout = laidOut({ data, ...shown }, width, room);
      if (printing) Object.assign(layout, { width, autosize: false });
      plot.style.height = `${layout.height}px`;
      node.classList.toggle("fv-dark", dark);
      const drawn = dark ? recolored({ data, layout }) : { data, layout };
      return Plotly.react(plot, drawn.data, drawn.layout, { ...config, responsive: false });
    };
    drawers.push(draw);
    await draw();
    if (frames) await Plotly.addFrames(plot, frames);
    if (house && !frames) onThemeChange(draw);
    new ResizeObserver(() => {
      if (plot.clientWidth) Plotly.Plots.resize(plot);
      // a phone that is turned, or a section that is opened, changes what must be scrolled by keys
      if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
      else node.removeAttribute("tabindex");
    }).observe(node);
    node.dataset.drawn = "";
    return draw;
  }

  const plotElement = () => /** @type {PlotElement} */ (document.createElement("div"));

  /** Draw a figure. @param {HTMLElement} node */
  async function figure(node) {
    const { frames, config, ...shown } = dataOf(node);
    const plot = plotElement();
    node.replaceChildren(plot);
    await picture(node, plot, config, () => shown, frames);
  }

  /** Draw an `interact`: its pictures were made at every stop. @param {HTMLElement} node */
  async function live(node) {
    /** @type {{ controls: Control[], figures: SiteFigure[], config: object }} */
    const { controls, figures, config } = dataOf(node);
    const at = controls.map(({ start }) => start);
    const current = () => figures[at.reduce((k, v, i) => k * controls[i].labels.length + v, 0)];
    const plot = plotElement();
    const bar = document.createElement("div");
    bar.className = "fv-controls";
    node.replaceChildren(bar, plot);
    let draw = () => {};
    controls.forEach((control, i) => {
      const change = (/** @type {number} */ stop) => {
        at[i] = stop;
        draw();
      };
      bar.append(controlOf(control, change));
    });
    draw = await picture(node, plot, config, current);
  }

  /** @typedef {{ name: string, labels: string[], list: boolean, start: number }} Control */

  /**
   * A menu or a slider with its label.
   * @param {Control} control
   * @param {(stop: number) => void} change
   */
  function controlOf({ name, labels, list, start }, change) {
    const label = document.createElement("label");
    const input = document.createElement(list ? "select" : "input");
    const value = document.createElement("output");
    label.append(`${name} `, input, " ");
    if (list) input.append(...labels.map((text, k) => new Option(text, String(k))));
    else {
      Object.assign(input, { type: "range", min: 0, max: labels.length - 1, step: 1 });
      label.append(value);
    }
    input.value = String(start);
    const say = () => {
      const text = labels[Number(input.value)];
      value.textContent = text;
      if (!list) input.setAttribute("aria-valuetext", text);
    };
    input.addEventListener("input", () => {
      say();
      change(Number(input.value));
    });
    say();
    return label;
  }

  /** Show a lab without a kernel. @param {HTMLElement} node */
  async function lab(node) {
    /** @type {{ index: Bundle["index"], records: string, start: Traits }} */
    const { index, records, start } = dataOf(node);
    await script("plotly.min.js");
    await script("explorer.js");
    const state = { ...start };
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
    const buffer = Uint8Array.from(atob(records), (c) => c.charCodeAt(0));
    const el = document.createElement("div");
    node.replaceChildren(el);
    // one of a page has its state in the address
    const first = document.querySelector(".fv-lab") === node;
    flatvizExplorer.show({ Plotly, model, el, bundle: { index, buffer }, hash: first });
    node.dataset.drawn = "";
  }

  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting) bring(/** @type {HTMLElement} */ (target));
    },
    { rootMargin: "800px" },
  );
  /** @type {Set<HTMLElement>} */
  const undrawn = new Set();
  /** Draw what stands here. @param {HTMLElement} node */
  function bring(node) {
    seen.unobserve(node);
    if (!undrawn.delete(node)) return;
    if (node.classList.contains("fv-lab")) lab(node);
    else if (node.classList.contains("fv-live")) live(node);
    else figure(node);
  }

  /** Sections of an experiment, which are folded. */
  const folds = () =>
    /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll("details.fv-fold")]);
  /** Open what a link leads to. */
  const unfold = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (const one of folds())
      if (one.contains(place) || (place && one.parentElement === place)) one.open = true;
    place?.scrollIntoView();
  };
  /**
   * Draw for paper, all figures and all that is folded, or for the screen again.
   * @param {boolean} on
   */
  const paper = (on) => () => {
    printing = on;
    for (const one of folds()) {
      if (on) one.dataset.was = String(one.open);
      one.open = on || one.dataset.was === "true";
    }
    for (const draw of drawers) draw();
    if (on) [...undrawn].forEach(bring);
  };
  /** Let code and paths in a table go on in the next line, after what ends a part of them. */
  const breakable = () => {
    for (const part of document.querySelectorAll(".bd-article table code .pre"))
      part.innerHTML = part.innerHTML.replace(/[(.,=[](?=[^\s.,)\]])/g, "$&<wbr>");
    for (const cell of document.querySelectorAll(".bd-article td"))
      if (!cell.children.length) cell.innerHTML = cell.innerHTML.replace(/[/_]\b/g, "$&<wbr>");
  };
  /** Let what scrolls be scrolled by keys too. */
  const reachable = () => {
    /** @type {NodeListOf<HTMLElement>} */
    const wide = document.querySelectorAll(".bd-article pre, .bd-article table");
    for (const node of wide) node.tabIndex = node.scrollWidth > node.clientWidth ? 0 : -1;
  };
  /** Begin, once the page is there. */
  const begin = () => {
    breakable();
    new ResizeObserver(reachable).observe(document.body);
    formulas();
    /** @type {NodeListOf<HTMLElement>} */
    const nodes = document.querySelectorAll(".fv-figure, .fv-live, .fv-lab");
    for (const node of nodes) {
      undrawn.add(node);
      seen.observe(node);
    }
    if (folds().length) {
      window.addEventListener("hashchange", unfold);
      if (location.hash) unfold();
    }
    window.addEventListener("beforeprint", paper(true));
    window.addEventListener("afterprint", paper(false));
    const ready = () => {
      if (undrawn.size) for (const name of SCRIPTS) script(name);
    }; // printing waits for nothing
    const later = () => (window.requestIdleCallback ?? setTimeout)(ready);
    if (document.readyState === "complete") later();
    else window.addEventListener("load", later);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
