// ---- room around a plane, and for the words beside it

export const FOOT = 92;
export const BAR = 130;
export const LEFT = 60; // px: axis title with small print; colour bar; axis

export const above = (layout) => layout.margin?.t ?? layout.template.layout.margin.t;

// Margins of a picture of one plane that is wider than the plane needs, so that colour bar and
// words stand beside it; null for
// other pictures, and where there is no such room.
export function beside({ layout, data }, ranges, width, height) {
  if (!layout.yaxis?.scaleanchor || layout.xaxis2) return null;
  const [x, y] = ["xaxis", "yaxis"].map((axis) => ranges[axis] ?? layout[axis].range);
  const bar = data.some((t) => t.colorbar) ? BAR : 20;
  const ratio = x && y ? (x[1] - x[0]) / (y[1] - y[0]) : 1;
  const words = keys({ data, layout }).reduce((sum, name) => sum + 44 + 7.2 * name.length, 0);
  const extra =
    Math.min(
      width - LEFT - bar - (height - above(layout) - FOOT) * ratio,
      width - LEFT - bar - words,
    ) / 2;
  return extra < 8
    ? null
    : { margin: { ...layout.margin, t: above(layout), l: LEFT + extra, r: bar + extra } };
}

// Panels that stand in a row, one below the other where the picture is less than 460 px wide.
export function stacked(layout, width) {
  const keys = ["", 2, 3, 4].filter((k) => layout[`xaxis${k}`]);
  const several = keys.length > 1 && keys.every((k) => !layout[`yaxis${k}`].domain);
  if (width >= 460 || !several) return layout;
  const gap = 0.1;
  const tall = (1 - gap * (keys.length - 1)) / keys.length;
  const axes = {};
  keys.forEach((k, i) => {
    const top = 1 - i * (tall + gap);
    const last = i === keys.length - 1;
    axes[`xaxis${k}`] = {
      ...layout[`xaxis${k}`],
      domain: [0, 1],
      showticklabels: last,
      title: last ? layout[`xaxis${k}`].title : "",
    };
    axes[`yaxis${k}`] = {
      ...layout[`yaxis${k}`],
      domain: [Math.max(0, top - tall), top],
      showticklabels: true,
      nticks: 4,
      title: i === 1 ? layout.yaxis.title : "",
    };
  });
  return { ...layout, ...axes, margin: { ...layout.margin, t: 58 } };
}

// What stands in the legend.
function keys({ data, layout }) {
  return layout.showlegend === false
    ? []
    : data
        .filter((t) => t.mode && t.name && t.showlegend !== false && t.visible !== false)
        .map((t) => t.name);
}

// Titles no longer than their colour bar or axis, and a relief that is seen from so far that its
// words are not cut.
export function fitted({ data, layout }, width, height) {
  const tall = height - (layout.margin?.t ?? 76) - (layout.margin?.b ?? FOOT);
  const named = (bar) => ({
    ...bar,
    title: {
      ...bar.title,
      font: {
        ...bar.title.font,
        size: Math.max(10, Math.min(15, tall / (0.54 * bar.title.text.length))),
      },
    },
  });
  const traces = data.map((t) =>
    t.colorbar?.title?.text ? { ...t, colorbar: named(t.colorbar) } : t,
  );
  const { scene } = layout;
  const far = 460 / width;
  for (const name of Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))) {
    const axis = layout[name];
    const [from, to] = axis.domain ?? [0, 1];
    const long = name[0] === "y" ? tall : width - 60;
    const [text] = (axis.title?.text ?? "").split("<br>");
    const size = (long * (to - from)) / (0.54 * text.replace(/<[^>]*>/g, "").length);
    if (size < 15)
      layout = {
        ...layout,
        [name]: {
          ...axis,
          title: { ...axis.title, font: { ...axis.title.font, size: Math.max(9, size) } },
        },
      };
  }
  if (!scene?.camera || far <= 1) return { data: traces, layout };
  const eye = Object.fromEntries(
    Object.entries(scene.camera.eye).map(([axis, v]) => [axis, v * far ** 0.7]),
  );
  // the share of what is said in the caption
  const brief = ({ title }) => title.text.replace(/ of [^)]*\)/, ")");
  const small = (axis, text) => ({
    ...axis,
    title: { ...axis.title, text, font: { size: 10 } },
    tickfont: { size: 9 },
  });
  const axes = {
    xaxis: small(scene.xaxis, brief(scene.xaxis)),
    yaxis: small(scene.yaxis, brief(scene.yaxis)),
    zaxis: small(scene.zaxis, ""),
  };
  return {
    data: traces,
    layout: { ...layout, scene: { ...scene, ...axes, camera: { ...scene.camera, eye } } },
  };
}
