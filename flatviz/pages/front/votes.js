// ---- what each draw says of one image
import { drawing } from "./elements.js";
import { NAME, cut } from "./thumbnails.js";

// Class probabilities of every draw for one image: thin lines; their mean: bars.
export function probabilities(picture, items, { left, top, width, height, turned, foot }) {
  const { now, n, ink, lit } = picture;
  const { classes } = items;
  const kept = items.kept(n);
  const step = width / classes.length;
  const x = (c) => left + (c + 0.5) * step;
  const y = (p) => top + (1 - p) * height;
  picture.chart = { x, y, step, items };
  const node = drawing("g", { "data-chart": now.row });
  const text = (words, at) => node.append(drawing("text", at, words));
  node.append(drawing("rect", { x: left, y: top, width, height, fill: "transparent" }));
  for (const p of [0, 0.25, 0.5, 0.75, 1]) {
    node.append(
      drawing("line", { x1: left, x2: left + width, y1: y(p), y2: y(p), stroke: ink.line }),
    );
    text(p, { x: left - 6, y: y(p) + 4, "text-anchor": "end", fill: ink.soft });
  }
  const { color } = picture.member.meta.images;
  classes.forEach((name, c) => {
    const mean =
      Array.from({ length: kept }, (_, d) => items.prob(d, now.place, c)).reduce(
        (a, b) => a + b,
        0,
      ) / kept;
    if (Number.isFinite(mean)) {
      node.append(
        drawing("rect", {
          class: "fv-mean",
          x: x(c) - 0.36 * step,
          y: y(mean),
          width: 0.72 * step,
          height: mean * height,
          fill: color,
          "fill-opacity": picture.dark ? 0.6 : 0.35,
        }),
      );
    }
    const at = {
      x: x(c),
      y: top + height + 16,
      "text-anchor": turned ? "end" : "middle",
      "font-weight": c === now.label ? 700 : 400,
    };
    text(
      cut(name, NAME),
      turned ? { ...at, transform: `rotate(-40 ${x(c)} ${top + height + 16})` } : at,
    );
  });
  const path = (d) =>
    classes
      .map((_, c) => [x(c), y(items.prob(d, now.place, c))])
      .filter(([, v]) => Number.isFinite(v))
      .map((p) => p.map((v) => v.toFixed(2)).join(","))
      .join(" ");
  const line = (d, look) =>
    node.append(
      drawing("polyline", {
        "data-draw": d,
        points: path(d),
        fill: "none",
        "stroke-linejoin": "round",
        ...look,
      }),
    );
  for (let d = 0; d < kept; d++)
    line(d, {
      stroke: picture.dark ? ink.ink : color,
      "stroke-width": 1.2,
      "stroke-opacity": 0.55,
    });
  if (lit !== null && lit < kept) line(lit, { stroke: ink.mark, "stroke-width": 3.5 });
  text(`Test image ${now.row}, label ${classes[now.label]}`, {
    x: left - 30,
    y: top - 36,
    "font-size": 15,
  });
  text(
    kept === 1
      ? "one draw: its probabilities"
      : `bars: mean of ${kept} draws; lines: single draws${lit !== null && lit < kept ? `; thick: draw ${lit + 1}` : ""}`,
    { x: left - 30, y: top - 16, fill: ink.soft },
  );
  text("class (bold: the label)", {
    x: left + width / 2,
    y: top + height + foot,
    "text-anchor": "middle",
    fill: ink.soft,
  });
  return node;
}
