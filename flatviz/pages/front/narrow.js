// ---- a picture in little room
import { FOOT, above } from "./room.js";

// Room around a picture less than 460 px wide: its legend is a line of text; on a phone
// its title is in the caption.
export function narrower({ data, layout }, width, phone) {
  const lines =
    Math.max(0, above(layout) - 76) +
    (layout.annotations?.some((a) => a.yref === "paper" && a.y >= 1) ? 16 : 0);
  const t =
    (phone ? 12 : 36) +
    Math.min(34, lines) +
    17 * keyLines({ data: labelled(data), layout }, width).length;
  return {
    margin: {
      ...layout.margin,
      t,
      b: FOOT - 44,
      l: width < 240 ? 40 : 50,
      r: 12,
    },
  };
}

// The legend of a narrow picture: each name in its colour after its symbol, in as few lines as have
// room.
function keyLines({ data, layout }, width) {
  if (layout.showlegend === false) return [];
  /** @type {string[][]} */
  const lines = [];
  let room = 0;
  for (const { name, mode, marker, line, showlegend, visible } of data) {
    if (!mode || !name || showlegend === false || visible === false) continue;
    const color =
      /markers/.test(mode) && typeof marker?.color === "string"
        ? marker.color
        : (line?.color ?? "#1f2933");
    const wide = 26 + 6.6 * name.length;
    const sign = !/markers/.test(mode)
      ? "\u2013"
      : /cross/.test(marker?.symbol)
        ? "\u271a"
        : "\u25cf";
    if (wide > room) {
      lines.push([]);
      room = width - 24;
    }
    room -= wide;
    lines.at(-1)?.push(`<span style="color:${color}">${sign} ${name}</span>`);
  }
  return lines.map((line) => line.join("   "));
}

export function keyLine(drawn, width) {
  const lines = keyLines(drawn, width);
  const { annotations = [], margin } = drawn.layout;
  if (!lines.length) return {};
  const at = {
    x: 0,
    y: 1,
    xref: "paper",
    yref: "paper",
    xanchor: "left",
    yanchor: "bottom",
    xshift: 8 - margin.l,
    yshift: 4,
    align: "left",
    showarrow: false,
  };
  return {
    showlegend: false,
    annotations: [...annotations, { ...at, text: lines.join("<br>"), font: { size: 11 } }],
  };
}

// Names beside their lines in place of a legend, of several lines each at another point; where
// draws
// are marks around the lines, names would lie over them.
const direct = (t) => t.type === "scatter" && /lines/.test(t.mode) && t.name?.length < 11;
export function labelled(data) {
  if (data.some((t) => t.type === "scatter" && t.mode === "markers" && t.visible !== false))
    return data;
  const several = data.filter(
    (t) => direct(t) && t.showlegend !== false && t.visible !== false,
  ).length;
  let k = 0;
  return data.map((t) => {
    if (!direct(t) || t.showlegend === false || t.visible === false) return t;
    const n = t.y?.length ?? atob(t.y?.bdata ?? "").length / Number(t.y?.dtype?.[1] ?? 8);
    const at =
      n > 2 && n < 60 ? Math.max(0, n - 1 - k++ * Math.max(1, Math.floor(n / several))) : n - 1;
    const text = Array.from({ length: n }, (_, i) => (i === at ? t.name : ""));
    return {
      ...t,
      showlegend: false,
      mode: `${t.mode}+text`,
      text,
      textposition: n < 60 ? "top left" : "top center",
      textfont: { size: 12, color: t.line?.color },
      cliponaxis: false,
    };
  });
}

// A thin colour bar.
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

// What stands in small print below the axes, as a sentence.
export const printOf = ({ xaxis }) => {
  const [, ...lines] = (xaxis?.title?.text ?? "").replace(/<\/?span[^>]*>/g, "").split("<br>");
  return lines.length ? ` (${lines.join("; ")}.)` : "";
};

// Smaller titles, legend and notes for a picture less than 460 px wide; its small print is in the
// caption.
export function smaller(layout, phone) {
  const [, ...rest] = (layout.title?.text ?? "").split("<br>");
  const title = {
    ...layout.title,
    text: phone ? rest.join("<br>") : layout.title?.text,
    font: { ...layout.title?.font, size: 12 },
  };
  const widest = (text) => Math.max(...text.split("<br>").map((line) => line.length));
  const annotations = layout.annotations?.map((a) => ({
    ...a,
    font: { ...a.font, size: widest(a.text ?? "") > 54 ? 8.5 : 10 },
  }));
  const legend = { ...layout.legend, font: { ...layout.legend?.font, size: 11 } };
  const { xaxis } = layout;
  const text = xaxis?.title?.text?.split("<br>")[0];
  return {
    ...layout,
    title,
    legend,
    ...(text ? { xaxis: { ...xaxis, title: { ...xaxis.title, text } } } : {}),
    ...(annotations ? { annotations } : {}),
  };
}

export const axisName = (id) => `${id[0]}axis${id.slice(1)}`;
