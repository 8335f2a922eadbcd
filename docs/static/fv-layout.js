// How a figure of the site fits the width that there is: titles, legends and notes in lines, panels
// below one another on a phone.

globalThis.flatvizLayout = (() => {
  const NARROW = 460; // px: a phone
  const BAR = 80; // px, of a colour bar with its numbers and title
  const LEAST = 300; // px high
  const MARGIN = { t: 80, b: 80, l: 80, r: 80 }; // of plotly

  const legendOf = (/** @type {SiteLayout} */ { template, legend }) => ({
    ...template?.layout?.legend,
    ...legend,
  });
  const marginOf = (/** @type {SiteLayout} */ { template, margin }) => ({
    ...MARGIN,
    ...template?.layout?.margin,
    ...margin,
  });
  const xAxesOf = (/** @type {SiteLayout} */ layout) =>
    /** @type {`xaxis${string}`[]} */ (
      Object.keys(layout).filter((name) => /^xaxis\d*$/.test(name))
    );
  const named = (/** @type {SiteTrace[]} */ data) =>
    data.filter(({ name, showlegend }) => name && showlegend !== false);

  /**
   * Width below which a figure scrolls in its box: panels side by side, a long legend and menus
   * need room.
   * @param {SiteFigure} figure
   */
  function widthNeeded({ data = [], layout }) {
    const lefts = xAxesOf(layout).map((name) => layout[name]?.domain?.[0] ?? 0);
    const columns = new Set(lefts).size;
    const long = named(data).length > 6 && legendOf(layout).orientation !== "h";
    const many = long || (layout.updatemenus?.length ?? 0) > 1;
    return Math.max(columns < 2 ? 0 : Math.min(240 + 160 * columns, 760), many ? 560 : 0);
  }

  /**
   * Words in lines of at most `room` characters.
   * @param {string} words
   * @param {number} room
   */
  function inLines(words, room) {
    const lines = [""];
    for (const word of words.split(" ")) {
      if ((lines[lines.length - 1] + word).length > room) lines.push("");
      lines[lines.length - 1] += `${word} `;
    }
    return lines.filter((line) => line.trim()).map((line) => line.trimEnd());
  }

  /**
   * The title of an axis that is longer than the axis is broken into lines; what stands below it in
   * small print stays.
   * @param {SiteLayout} layout
   * @param {number} width
   */
  function withAxisTitles(layout, width) {
    const margin = marginOf(layout);
    const inner = width - margin.l - margin.r;
    const changed = { ...layout };
    for (const name of xAxesOf(layout)) {
      const axis = layout[name] ?? {};
      const title = textOf(axis.title);
      const [from, to] = axis.domain ?? [0, 1];
      const [first, ...rest] = title.text.split("<br>");
      const room = Math.floor(((to - from) * inner) / 7.4);
      if (!first || first.includes("<") || first.length <= room) continue;
      const text = [...inLines(first, Math.max(room, 10)), ...rest].join("<br>");
      changed[name] = { ...axis, title: { ...title, text } };
    }
    return changed;
  }

  /**
   * A title with its text; it may be the text alone.
   * @param {SiteLayout["title"] | string} title
   */
  const textOf = (title) =>
    typeof title === "string" ? { text: title } : { ...title, text: title?.text ?? "" };

  /**
   * A legend above or below the picture gets a row for what does not fit beside each other, for
   * which the figure grows.
   * @param {SiteLayout} layout
   * @param {SiteTrace[]} data
   * @param {number} width
   */
  function withLegend(layout, data, width) {
    const legend = legendOf(layout);
    const traces = named(data);
    if (legend.orientation !== "h" || traces.length < 2 || layout.showlegend === false)
      return layout;
    const margin = marginOf(layout);
    const inner = width - margin.l - margin.r;
    const room = Math.floor((inner - 46) / 6);
    const longest = Math.min(room, Math.max(...traces.map(({ name = "" }) => name.length)));
    let more = 0; // lines of names that are longer than the figure is wide
    for (const trace of traces) {
      const { name = "" } = trace;
      if (name.length <= room) continue;
      const lines = inLines(name, room);
      more += lines.length - 1;
      trace.name = lines.join("<br>");
    }
    const columns = Math.max(1, Math.floor(inner / (46 + 7.2 * longest)));
    const rows = Math.ceil(traces.length / columns) + more;
    const above = (legend.y ?? 1) >= 1;
    const grown = Math.max(0, above ? 34 + 19 * rows - margin.t : 76 + 19 * rows - margin.b);
    margin[above ? "t" : "b"] += grown;
    // it begins below the titles of the axes, however high the figure is
    const place = above ? {} : { y: 0, yref: "container", yanchor: "bottom" };
    const height = layout.height + grown;
    return { ...layout, height, margin, legend: { ...layout.legend, ...place } };
  }

  /**
   * Panels of a grid stand below one another where the window is narrow.
   * @param {SiteLayout} layout
   * @param {number} width
   */
  function withGrid(layout, width) {
    const { columns = 1, rows = 1, xgap = 0.1 } = layout.grid ?? {};
    if (columns < 2 || width >= 240 + 160 * columns) return layout;
    const grid = { ...layout.grid, columns: 1, rows: rows * columns, ygap: xgap };
    return { ...layout, grid, height: Math.round(0.8 * columns * layout.height) };
  }

  /** A thin colour bar without a title. @param {SiteTrace[]} data */
  function thin(data) {
    for (const { colorbar } of data)
      if (colorbar) Object.assign(colorbar, { thickness: 9, title: { text: "" } });
  }

  /**
   * A ground whose axes have one scale is as high as its width allows: `layout.width` is the width
   * at which it fills its figure. On a phone its colour bar is thin.
   * @param {SiteLayout} layout
   * @param {SiteTrace[]} data
   * @param {number} width
   */
  function withGround(layout, data, width) {
    if (!layout.yaxis?.scaleanchor || !layout.width) return layout;
    const { l, r, t, b } = marginOf(layout);
    const narrow = width < NARROW;
    if (narrow) thin(data);
    const inner = width - l - r - (narrow ? BAR / 2 : BAR);
    const share = Math.min(1, inner / (layout.width - l - r - BAR));
    const height = Math.round(share * (layout.height - t - b) + t + b);
    const { text = "" } = layout.yaxis.title ?? {};
    const title = { ...layout.yaxis.title, text: narrow ? text.replace(" (", "<br>(") : text };
    return { ...layout, height, yaxis: { ...layout.yaxis, title } };
  }

  /**
   * On a phone a relief is seen from farther away, beside a thin colour bar; its axes have short
   * names.
   * @param {SiteLayout} layout
   * @param {SiteTrace[]} data
   * @param {number} width
   */
  function withScene(layout, data, width) {
    if (!layout.scene || width >= NARROW) return layout;
    thin(data);
    const scene = structuredClone(layout.scene);
    for (const { title } of [scene.xaxis, scene.yaxis])
      if (title?.text) title.text = title.text.replace(/ \(.*/, "");
    const eye = scene.camera?.eye ?? {};
    for (const side of Object.keys(eye)) eye[side] *= 1.25;
    return { ...layout, scene };
  }

  /**
   * A title that is wider than the figure is broken into lines, for which the figure grows.
   * @param {SiteLayout} layout
   * @param {number} width
   */
  function withTitle(layout, width) {
    const title = textOf(layout.title);
    const room = Math.floor((width - 30) / 8.2);
    const [first, ...rest] = title.text.split("<br>");
    if (first.length <= 0.55 * room || first.includes("<")) return layout;
    const lines = inLines(first, room);
    const more = 18 * (lines.length - 1);
    const margin = marginOf(layout);
    const text = [...lines, ...rest].join("<br>");
    const place = { xref: "container", x: 0, xanchor: "left" };
    const pad = { l: 12, ...("pad" in title ? title.pad : {}) };
    return {
      ...layout,
      title: { ...title, text, ...place, pad },
      height: layout.height + more,
      margin: { ...margin, t: margin.t + more },
    };
  }

  /**
   * A line above the panels that is wider than the figure is broken, for which the figure grows.
   * @param {SiteLayout} layout
   * @param {number} width
   */
  function withNotes(layout, width) {
    const margin = marginOf(layout);
    const room = Math.floor((width - margin.l) / 6.4);
    let more = 0;
    const annotations = layout.annotations?.map((note) => {
      const { xref, xanchor, y = 0, text = "" } = note;
      if (xref !== "paper" || xanchor !== "left" || !(y >= 1)) return note;
      const lines = text.split("<br>");
      const short = lines.flatMap((line) => (line.includes("<") ? line : inLines(line, room)));
      more = Math.max(more, short.length - lines.length);
      return { ...note, text: short.join("<br>") };
    });
    if (!more) return layout;
    margin.t += 17 * more;
    return { ...layout, annotations, margin, height: layout.height + 17 * more };
  }

  /**
   * The layout of a figure in this width, at most `most` px high; its traces are changed too.
   * @param {SiteFigure} figure
   * @param {number} width
   * @param {number} most
   * @returns {SiteLayout}
   */
  function laidOut({ data = [], layout }, width, most) {
    const framed = withGrid(withGround(withScene(layout, data, width), data, width), width);
    const whole = { ...framed };
    delete whole.width;
    delete whole.meta;
    whole.height = Math.min(whole.height ?? 460, Math.max(most, LEAST));
    const named = withLegend(withAxisTitles(whole, width), data, width);
    return { ...withTitle(withNotes(named, width), width), autosize: true };
  }

  return { widthNeeded, laidOut };
})();
