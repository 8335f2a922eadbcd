// Formulas, figures and labs of the site.  What they need is loaded when the first of them comes
// near the window, from
// this folder: no page asks another host for anything, and a page opened from the disk works too.
(() => {
  const base = document.currentScript.src.replace(/[^/]*$/, "");
  const loads = {};
  const drawers = [];
  const PAPER = 660; // px: as wide as a figure is on paper
  const NARROW = 460; // px: a phone
  const BAR = 80; // px, of a colour bar with its numbers and title
  let printing = false;
  const script = (name) =>
    (loads[name] ??= new Promise((resolve, reject) => {
      const node = document.createElement("script");
      node.src = base + name;
      node.onload = resolve;
      node.onerror = () => reject(new Error(`${name} is not there`));
      document.head.append(node);
    }));

  async function formulas() {
    const all = document.querySelectorAll(".math");
    if (!all.length) return;
    const sheet = document.createElement("link");
    sheet.rel = "stylesheet";
    sheet.href = base + "katex.min.css";
    document.head.append(sheet);
    await script("katex.min.js");
    for (const node of all) {
      const text = node.textContent;
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

  const dataOf = (node) =>
    JSON.parse(node.querySelector("script[type='application/json']").textContent);

  const legendOf = (layout) => ({ ...layout.template?.layout?.legend, ...layout.legend });
  const marginOf = (layout) => ({
    ...{ t: 80, b: 80, l: 80, r: 80 },
    ...layout.template?.layout?.margin,
    ...layout.margin,
  });

  // Panels side by side, a long legend and menus need room: on a phone such a figure scrolls in its
  // box.
  function widthNeeded({ data = [], layout }) {
    const columns = new Set(
      Object.keys(layout)
        .filter((k) => /^xaxis\d*$/.test(k))
        .map((k) => layout[k].domain?.[0] ?? 0),
    ).size;
    const named = data.filter((trace) => trace.showlegend !== false && trace.name).length;
    const many =
      (named > 6 && legendOf(layout).orientation !== "h") || (layout.updatemenus?.length ?? 0) > 1;
    return Math.max(columns < 2 ? 0 : Math.min(240 + 160 * columns, 760), many ? 560 : 0);
  }

  // Words in lines of at most `room` characters.
  function inLines(words, room) {
    const lines = [""];
    for (const word of words.split(" ")) {
      if ((lines.at(-1) + word).length > room) lines.push("");
      lines[lines.length - 1] += `${word} `;
    }
    return lines.filter((line) => line.trim()).map((line) => line.trimEnd());
  }

  // The title of an axis that is longer than the axis is broken into lines; what stands below it in
  // small print stays.
  function withAxisTitles(layout, width) {
    const margin = marginOf(layout);
    const inner = width - margin.l - margin.r;
    const changed = { ...layout };
    for (const name of Object.keys(layout).filter((k) => /^xaxis\d*$/.test(k))) {
      const axis = layout[name];
      const title = typeof axis.title === "string" ? { text: axis.title } : axis.title;
      const [from, to] = axis.domain ?? [0, 1];
      const [first, ...rest] = (title?.text ?? "").split("<br>");
      const room = Math.floor(((to - from) * inner) / 7.4);
      if (!first || first.includes("<") || first.length <= room) continue;
      changed[name] = {
        ...axis,
        title: { ...title, text: [...inLines(first, Math.max(room, 10)), ...rest].join("<br>") },
      };
    }
    return changed;
  }

  // A legend above or below the picture gets a row for what does not fit beside each other, for
  // which the figure grows.
  function withLegend(layout, data, width) {
    const legend = legendOf(layout);
    const named = data.filter((trace) => trace.name && trace.showlegend !== false);
    if (legend.orientation !== "h" || named.length < 2 || layout.showlegend === false)
      return layout;
    const margin = marginOf(layout);
    const inner = width - margin.l - margin.r;
    const room = Math.floor((inner - 46) / 6);
    const longest = Math.min(room, Math.max(...named.map((trace) => trace.name.length)));
    let more = 0; // lines of names that are longer than the figure is wide
    for (const trace of named.filter((trace) => trace.name.length > room)) {
      const lines = inLines(trace.name, room);
      more += lines.length - 1;
      trace.name = lines.join("<br>");
    }
    const columns = Math.max(1, Math.floor(inner / (46 + 7.2 * longest)));
    const rows = Math.ceil(named.length / columns) + more;
    const above = (legend.y ?? 1) >= 1;
    const grown = Math.max(0, above ? 34 + 19 * rows - margin.t : 76 + 19 * rows - margin.b);
    margin[above ? "t" : "b"] += grown;
    // it begins below the titles of the axes, however high the figure is
    const place = above ? {} : { y: 0, yref: "container", yanchor: "bottom" };
    return {
      ...layout,
      height: layout.height + grown,
      margin,
      legend: { ...layout.legend, ...place },
    };
  }

  // Panels of a grid stand below one another where the window is narrow.
  function withGrid(layout, width) {
    const { columns = 1, rows = 1, xgap = 0.1 } = layout.grid ?? {};
    if (columns < 2 || width >= 240 + 160 * columns) return layout;
    const grid = { ...layout.grid, columns: 1, rows: rows * columns, ygap: xgap };
    return { ...layout, grid, height: Math.round(0.8 * columns * layout.height) };
  }

  // A ground whose axes have one scale is as high as its width allows: `layout.width` is the width
  // at which it fills its figure. On a phone its colour bar is thin.
  function withGround(layout, data, width) {
    if (!layout.yaxis?.scaleanchor || !layout.width) return layout;
    const { l, r, t, b } = marginOf(layout);
    const narrow = width < NARROW;
    for (const { colorbar } of narrow ? data : [])
      if (colorbar) Object.assign(colorbar, { thickness: 9, title: { text: "" } });
    const inner = (all) => all - l - r - (narrow ? BAR / 2 : BAR);
    const share = Math.min(1, inner(width) / (layout.width - l - r - BAR));
    const height = Math.round(share * (layout.height - t - b) + t + b);
    const { text = "" } = layout.yaxis.title ?? {};
    const title = { ...layout.yaxis.title, text: narrow ? text.replace(" (", "<br>(") : text };
    return { ...layout, height, yaxis: { ...layout.yaxis, title } };
  }

  // On a phone a relief is seen from farther away, beside a thin colour bar; its axes have short
  // names.
  function withScene(layout, data, width) {
    if (!layout.scene || width >= NARROW) return layout;
    for (const { colorbar } of data)
      if (colorbar) Object.assign(colorbar, { thickness: 9, title: { text: "" } });
    const scene = structuredClone(layout.scene);
    for (const { title } of [scene.xaxis, scene.yaxis])
      if (title?.text) title.text = title.text.replace(/ \(.*/, "");
    for (const side of Object.keys(scene.camera?.eye ?? {})) scene.camera.eye[side] *= 1.25;
    return { ...layout, scene };
  }

  // A title that is wider than the figure is broken into lines, for which the figure grows.
  function withTitle(layout, width) {
    const title = typeof layout.title === "string" ? { text: layout.title } : layout.title;
    const room = Math.floor((width - 30) / 8.2);
    const [first, ...rest] = (title?.text ?? "").split("<br>");
    if (first.length <= 0.55 * room || first.includes("<")) return layout;
    const lines = inLines(first, room);
    const more = 18 * (lines.length - 1);
    const margin = marginOf(layout);
    const placed = {
      ...title,
      text: [...lines, ...rest].join("<br>"),
      xref: "container",
      x: 0,
      xanchor: "left",
      pad: { l: 12, ...title.pad },
    };
    return {
      ...layout,
      title: placed,
      height: layout.height + more,
      margin: { ...margin, t: margin.t + more },
    };
  }

  // A line above the panels that is wider than the figure is broken, for which the figure grows.
  function withNotes(layout, width) {
    const margin = marginOf(layout);
    const room = Math.floor((width - margin.l) / 6.4);
    let more = 0;
    const annotations = layout.annotations?.map((note) => {
      if (note.xref !== "paper" || note.xanchor !== "left" || !(note.y >= 1)) return note;
      const lines = note.text.split("<br>");
      const short = lines.flatMap((line) => (line.includes("<") ? line : inLines(line, room)));
      more = Math.max(more, short.length - lines.length);
      return { ...note, text: short.join("<br>") };
    });
    if (!more) return layout;
    margin.t += 17 * more;
    return { ...layout, annotations, margin, height: layout.height + 17 * more };
  }

  async function picture(node, plot, config, current, frames) {
    // current() is the figure to draw; returns what draws it
    await script("plotly.min.js");
    await script("explorer.js");
    const { isDark, recolored, onThemeChange } = flatvizExplorer;
    // a slide shows a figure whole
    const room = node.closest(".slide") ? 0.48 * innerHeight : Infinity;
    // another template stays on white
    const house = current().layout.template?.layout?.font?.color === "#1f2933";
    plot.style.minWidth = `${widthNeeded(current())}px`;
    node.style.minHeight = "0";
    const draw = () => {
      const width = printing ? PAPER : plot.clientWidth || node.clientWidth;
      const shown = structuredClone(current());
      const data = shown.data;
      const dark = house && isDark() && !printing;
      shown.layout = withGrid(withGround(withScene(shown.layout, data, width), data, width), width);
      delete shown.layout.width;
      delete shown.layout.meta;
      shown.layout.height = Math.min(shown.layout.height ?? 460, Math.max(room, 300));
      const layout = {
        ...withTitle(
          withNotes(withLegend(withAxisTitles(shown.layout, width), data, width), width),
          width,
        ),
        autosize: true,
      };
      if (printing) Object.assign(layout, { width, autosize: false });
      plot.style.height = `${layout.height}px`;
      node.classList.toggle("fv-dark", dark);
      return Plotly.react(plot, dark ? recolored(data) : data, dark ? recolored(layout) : layout, {
        ...config,
        responsive: false,
      });
    };
    drawers.push(draw);
    await draw();
    if (frames) await Plotly.addFrames(plot, frames);
    if (house && !frames) onThemeChange(draw);
    new ResizeObserver(() => {
      if (plot.clientWidth) Plotly.Plots.resize(plot);
    }).observe(node);
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
    node.dataset.drawn = "";
    return draw;
  }

  async function figure(node) {
    const { frames, config, ...shown } = dataOf(node);
    const plot = document.createElement("div");
    node.replaceChildren(plot);
    await picture(node, plot, config, () => shown, frames);
  }

  async function live(node) {
    // an `interact`: its pictures were made at every stop
    const { controls, figures, config } = dataOf(node);
    const at = controls.map((c) => c.start);
    const current = () => figures[at.reduce((k, v, i) => k * controls[i].labels.length + v, 0)];
    const plot = document.createElement("div");
    const bar = document.createElement("div");
    bar.className = "fv-controls";
    node.replaceChildren(bar, plot);
    let draw = () => {};
    controls.forEach((c, i) => {
      const label = document.createElement("label");
      const input = document.createElement(c.list ? "select" : "input");
      const value = document.createElement("output");
      label.append(`${c.name} `, input, " ");
      if (c.list) input.append(...c.labels.map((text, k) => new Option(text, k)));
      else {
        Object.assign(input, { type: "range", min: 0, max: c.labels.length - 1, step: 1 });
        label.append(value);
      }
      input.value = at[i];
      const say = () => {
        value.textContent = c.labels[at[i]];
        if (!c.list) input.setAttribute("aria-valuetext", c.labels[at[i]]);
      };
      input.addEventListener("input", () => {
        at[i] = Number(input.value);
        say();
        draw();
      });
      say();
      bar.append(label);
    });
    draw = await picture(node, plot, config, current);
  }

  async function lab(node) {
    const { index, records, start } = dataOf(node);
    await script("plotly.min.js");
    await script("explorer.js");
    const state = { ...start };
    const model = {
      get: (k) => state[k],
      set: (k, v) => {
        state[k] = v;
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
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        bring(target);
      }
    },
    { rootMargin: "800px" },
  );
  const undrawn = new Set();
  function bring(node) {
    // draw what stands here
    seen.unobserve(node);
    if (undrawn.delete(node))
      (node.classList.contains("fv-lab")
        ? lab
        : node.classList.contains("fv-live")
          ? live
          : figure)(node);
  }
  // Sections of an experiment are folded: what a link leads to is opened, on paper all of them.
  const folds = () => [...document.querySelectorAll("details.fv-fold")];
  const unfold = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (const one of folds())
      if (one.contains(place) || one.parentElement === place) one.open = true;
    place?.scrollIntoView();
  };
  const paper = (on) => () => {
    // on paper all figures are drawn, also those that nobody has scrolled to
    printing = on;
    for (const one of folds()) {
      if (on) one.dataset.was = String(one.open);
      one.open = on || one.dataset.was === "true";
    }
    drawers.forEach((draw) => draw());
    if (on) [...undrawn].forEach(bring);
  };
  const breakable = () => {
    // code and paths in a table may go on in the next line, after what ends a part of them
    for (const part of document.querySelectorAll(".bd-article table code .pre"))
      part.innerHTML = part.innerHTML.replace(/[(.,=[](?=[^\s.,)\]])/g, "$&<wbr>");
    for (const cell of document.querySelectorAll(".bd-article td"))
      if (!cell.children.length) cell.innerHTML = cell.innerHTML.replace(/[/_]\b/g, "$&<wbr>");
  };
  const reachable = () => {
    // what scrolls can be scrolled by keys too
    for (const node of document.querySelectorAll(".bd-article pre, .bd-article table"))
      node.tabIndex = node.scrollWidth > node.clientWidth ? 0 : -1;
  };
  const begin = () => {
    breakable();
    new ResizeObserver(reachable).observe(document.body);
    formulas();
    document.querySelectorAll(".fv-figure, .fv-live, .fv-lab").forEach((node) => {
      undrawn.add(node);
      seen.observe(node);
    });
    if (folds().length) {
      window.addEventListener("hashchange", unfold);
      if (location.hash) unfold();
    }
    window.addEventListener("beforeprint", paper(true));
    window.addEventListener("afterprint", paper(false));
    const ready = () => {
      if (undrawn.size) for (const name of ["plotly.min.js", "explorer.js"]) script(name);
    }; // printing waits for nothing
    const later = () => (window.requestIdleCallback ?? setTimeout)(ready);
    if (document.readyState === "complete") later();
    else window.addEventListener("load", later);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
