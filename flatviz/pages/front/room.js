// ---- room around a plane, and for the words beside it

/** @import { Axis, ColorBar, Figure, Margin, PlotLayout, Ranges, Trace } from "./types.d.ts" */

export const FOOT = 92;
const BAR = 130;
const LEFT = 60; // px: axis title with small print; colour bar; axis

/** The names of a layout's axes. @param {PlotLayout} layout */
export const axesOf = (layout) =>
  /** @type {(`xaxis${string}` | `yaxis${string}`)[]} */ (
    Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name))
  );

/** Room above a picture, px. @param {PlotLayout} layout */
export const above = (layout) => layout.margin?.t ?? layout.template.layout.margin.t;

/**
 * Margins of a picture of one plane that is wider than the plane needs, so that colour bar and
 * words stand beside it; null for other pictures, and where there is no such room.
 * @param {Figure} figure
 * @param {Ranges} ranges
 * @param {number} width
 * @param {number} height
 * @returns {{ margin: Partial<Margin> } | null}
 */
export function beside({ layout, data }, ranges, width, height) {
  const { xaxis, yaxis } = layout;
  if (!yaxis?.scaleanchor || layout.xaxis2) return null;
  const [x, y] = [ranges.xaxis ?? xaxis?.range, ranges.yaxis ?? yaxis.range];
  const bar = data.some((trace) => trace.colorbar) ? BAR : 20;
  const ratio = x && y ? (x[1] - x[0]) / (y[1] - y[0]) : 1;
  const words = keys({ data, layout }).reduce((sum, name) => sum + 44 + 7.2 * name.length, 0);
  const most = Math.max((height - above(layout) - FOOT) * ratio, words);
  const extra = (width - LEFT - bar - most) / 2;
  if (extra < 8) return null;
  return { margin: { ...layout.margin, t: above(layout), l: LEFT + extra, r: bar + extra } };
}

/**
 * Panels that stand in a row, one below the other where the picture is less than 460 px wide.
 * @param {PlotLayout} layout
 * @param {number} width
 */
export function stacked(layout, width) {
  const panels = ["", "2", "3", "4"].filter((k) => layout[`xaxis${k}`]);
  const several = panels.length > 1 && panels.every((k) => !layout[`yaxis${k}`]?.domain);
  if (width >= 460 || !several) return layout;
  const gap = 0.1;
  const tall = (1 - gap * (panels.length - 1)) / panels.length;
  const made = { ...layout };
  panels.forEach((k, i) => {
    const top = 1 - i * (tall + gap);
    const last = i === panels.length - 1;
    const across = layout[`xaxis${k}`];
    made[`xaxis${k}`] = {
      ...across,
      domain: [0, 1],
      showticklabels: last,
      title: last ? across?.title : { text: "" },
    };
    made[`yaxis${k}`] = {
      ...layout[`yaxis${k}`],
      domain: [Math.max(0, top - tall), top],
      showticklabels: true,
      nticks: 4,
      title: i === 1 ? layout.yaxis?.title : { text: "" },
    };
  });
  return { ...made, margin: { ...layout.margin, t: 58 } };
}

/** Whether a trace stands in the legend. @param {Trace} trace */
export const listed = ({ mode, name, showlegend, visible }) =>
  mode && name && showlegend !== false && visible !== false;

/** The names in the legend. @param {Figure} figure */
const keys = ({ data, layout }) =>
  layout.showlegend === false ? [] : data.filter(listed).map(({ name }) => name ?? "");

/**
 * Titles no longer than their colour bar or axis, and a relief that is seen from so far that its
 * words are not cut.
 * @param {Figure} figure
 * @param {number} width
 * @param {number} height
 */
export function fitted({ data, layout }, width, height) {
  const tall = height - (layout.margin?.t ?? 76) - (layout.margin?.b ?? FOOT);
  const named = (/** @type {ColorBar} */ bar) => {
    const size = tall / (0.54 * (bar.title?.text ?? "").length);
    const font = { ...bar.title?.font, size: Math.max(10, Math.min(15, size)) };
    return { ...bar, title: { ...bar.title, font } };
  };
  const traces = data.map((trace) =>
    trace.colorbar?.title?.text ? { ...trace, colorbar: named(trace.colorbar) } : trace,
  );
  const made = { ...layout };
  for (const name of axesOf(layout)) {
    const axis = layout[name] ?? {};
    const [from, to] = axis.domain ?? [0, 1];
    const long = name[0] === "y" ? tall : width - 60;
    const [text] = (axis.title?.text ?? "").split("<br>");
    const size = (long * (to - from)) / (0.54 * text.replace(/<[^>]*>/g, "").length);
    const font = { ...axis.title?.font, size: Math.max(9, size) };
    if (size < 15) made[name] = { ...axis, title: { ...axis.title, font } };
  }
  return { data: traces, layout: afar(made, width) };
}

/**
 * A relief in little room: seen from farther away, its titles small.
 * @param {PlotLayout} layout
 * @param {number} width
 */
function afar(layout, width) {
  const { scene } = layout;
  const far = 460 / width;
  if (!scene?.camera || far <= 1) return layout;
  const moved = Object.entries(scene.camera.eye).map(([axis, v]) => [axis, v * far ** 0.7]);
  const camera = { ...scene.camera, eye: Object.fromEntries(moved) };
  // the share of what is said in the caption
  const brief = (/** @type {Axis} */ { title }) => title?.text?.replace(/ of [^)]*\)/, ")");
  const small = (/** @type {Axis} */ axis, text = brief(axis)) => ({
    ...axis,
    title: { ...axis.title, text, font: { size: 10 } },
    tickfont: { size: 9 },
  });
  const axes = {
    xaxis: small(scene.xaxis),
    yaxis: small(scene.yaxis),
    zaxis: small(scene.zaxis, ""),
  };
  return { ...layout, scene: { ...scene, ...axes, camera } };
}
