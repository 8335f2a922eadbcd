// ---- a picture in little room
import { above, FOOT, listed } from "./room.js";

/** @import { Figure, PlotLayout, Trace } from "./types.d.ts" */

/**
 * Room around a picture less than 460 px wide: its legend is a line of text; on a phone its title
 * is in the caption.
 * @param {Figure} figure
 * @param {number} width
 * @param {boolean} phone
 */
export function narrower({ data, layout }, width, phone) {
  const noted = layout.annotations?.some(({ yref, y = 0 }) => yref === "paper" && y >= 1);
  const lines = Math.max(0, above(layout) - 76) + (noted ? 16 : 0);
  const legend = 17 * keyLines({ data: labelled(data), layout }, width).length;
  const t = (phone ? 12 : 36) + Math.min(34, lines) + legend;
  const margin = { ...layout.margin, t, b: FOOT - 44, l: width < 240 ? 40 : 50, r: 12 };
  return { margin };
}

/**
 * The legend of a narrow picture: each name in its colour after its symbol, in as few lines as have
 * room.
 * @param {Figure} figure
 * @param {number} width
 */
function keyLines({ data, layout }, width) {
  if (layout.showlegend === false) return [];
  /** @type {string[][]} */
  const lines = [];
  let room = 0;
  for (const { name = "", mode = "", marker, line } of data.filter(listed)) {
    const marks = /markers/.test(mode);
    const own = marks && typeof marker?.color === "string" ? marker.color : line?.color;
    const marked = /cross/.test(marker?.symbol ?? "") ? "\u271a" : "\u25cf";
    const wide = 26 + 6.6 * name.length;
    if (wide > room) {
      lines.push([]);
      room = width - 24;
    }
    room -= wide;
    const text = `${marks ? marked : "\u2013"} ${name}`;
    lines[lines.length - 1].push(`<span style="color:${own ?? "#1f2933"}">${text}</span>`);
  }
  return lines.map((line) => line.join("   "));
}

/**
 * The legend of a narrow picture as a note above it.
 * @param {Figure} drawn
 * @param {number} width
 */
export function keyLine(drawn, width) {
  const lines = keyLines(drawn, width);
  const { annotations = [], margin } = drawn.layout;
  if (!lines.length) return {};
  const note = {
    text: lines.join("<br>"),
    font: { size: 11 },
    x: 0,
    y: 1,
    xref: "paper",
    yref: "paper",
    xanchor: "left",
    yanchor: "bottom",
    xshift: 8 - (margin?.l ?? 0),
    yshift: 4,
    align: "left",
    showarrow: false,
  };
  return { showlegend: false, annotations: [...annotations, note] };
}

/** Whether a trace is a line whose name has room beside it. @param {Trace} trace */
const direct = ({ type, mode = "", name = "", showlegend, visible }) =>
  type === "scatter" &&
  /lines/.test(mode) &&
  name !== "" &&
  name.length < 11 &&
  showlegend !== false &&
  visible !== false;

/** How many numbers these are. @param {Trace["y"]} numbers */
const countOf = (numbers = []) =>
  Array.isArray(numbers) ? numbers.length : atob(numbers.bdata).length / Number(numbers.dtype[1]);

/**
 * Names beside their lines in place of a legend, of several lines each at another point; where
 * draws are marks around the lines, names would lie over them.
 * @param {Trace[]} data
 * @returns {Trace[]}
 */
export function labelled(data) {
  if (data.some((t) => t.type === "scatter" && t.mode === "markers" && t.visible !== false))
    return data;
  const several = data.filter(direct).length;
  let k = 0;
  return data.map((trace) => {
    if (!direct(trace)) return trace;
    const n = countOf(trace.y);
    const few = n > 2 && n < 60;
    const back = few ? k++ * Math.max(1, Math.floor(n / several)) : 0;
    const at = few ? Math.max(0, n - 1 - back) : n - 1;
    return {
      ...trace,
      showlegend: false,
      mode: `${trace.mode}+text`,
      text: Array.from({ length: n }, (_, i) => (i === at ? trace.name : "")),
      textposition: n < 60 ? "top left" : "top center",
      textfont: { size: 12, color: trace.line?.color },
      cliponaxis: false,
    };
  });
}

/** A trace with a thin colour bar. @param {Trace} trace */
export function slim(trace) {
  if (!trace.colorbar) return trace;
  return {
    ...trace,
    colorbar: {
      ...trace.colorbar,
      thickness: 9,
      xpad: 4,
      tickfont: { size: 10 },
      title: { ...trace.colorbar.title, font: { size: 10.5 } },
    },
  };
}

/** What stands in small print below the axes, as a sentence. @param {PlotLayout} layout */
export const printOf = ({ xaxis }) => {
  const [, ...lines] = (xaxis?.title?.text ?? "").replace(/<\/?span[^>]*>/g, "").split("<br>");
  return lines.length ? ` (${lines.join("; ")}.)` : "";
};

/**
 * Smaller titles, legend and notes for a picture less than 460 px wide; its small print is in the
 * caption.
 * @param {PlotLayout} layout
 * @param {boolean} phone
 */
export function smaller(layout, phone) {
  const { title, legend, annotations, xaxis } = layout;
  const [, ...rest] = (title?.text ?? "").split("<br>");
  const words = phone ? rest.join("<br>") : title?.text;
  const widest = (text = "") => Math.max(...text.split("<br>").map((line) => line.length));
  /** @type {PlotLayout} */
  const made = {
    ...layout,
    title: { ...title, text: words, font: { ...title?.font, size: 12 } },
    legend: { ...legend, font: { ...legend?.font, size: 11 } },
  };
  if (annotations)
    made.annotations = annotations.map((note) => ({
      ...note,
      font: { ...note.font, size: widest(note.text) > 54 ? 8.5 : 10 },
    }));
  const [text] = (xaxis?.title?.text ?? "").split("<br>");
  if (text) made.xaxis = { ...xaxis, title: { ...xaxis?.title, text } };
  return made;
}

/** The name of an axis in a layout: "x2" is "xaxis2". @param {string} id */
export const axisName = (id) =>
  /** @type {`xaxis${string}` | `yaxis${string}`} */ (`${id[0]}axis${id.slice(1)}`);
