// ---- drawing again only what changed

// Plotly.react computes every trace, axis, title and legend of a figure again, 20 to 60 ms, and
// what a control moves is the data
// of a few traces.  `redrawn` has plotly's own trace modules compute and draw those, 1 to 10 ms,
// and says whether it could: not
// where something else changed, where the range of an axis may have, or where this plotly.js is
// made otherwise.

const DATA =
  /^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/;
const NOTES = /^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/;
const LAYERS = {
  scatter: "scatterlayer",
  bar: "barlayer",
  contour: "contourlayer",
  heatmap: "heatmaplayer",
};
const FIELDS = ["contour", "heatmap"]; // traces that reach to their ends, whatever their values

export function same(a, b) {
  return Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((v, i) => same(v, b[i]))
    : Object.is(a, b);
}

function put(target, path, value) {
  const keys = path.split(".");
  const last = keys.pop();
  keys.reduce((at, key) => at[key], target)[last] = value;
}

// plot: an element that Plotly.react has drawn; changes: [[path, value]]; transition: of plotly,
// for points that glide there;
// glided: whether any trace was interrupted on its way, so that those that do not change are drawn
// too.
export function redrawn(Plotly, plot, changes, transition, glided) {
  const arrays = [];
  const notes = {};
  for (const [path, value] of changes) {
    const [, i, inside] = path.match(DATA) ?? [];
    if (i !== undefined && Array.isArray(value) && Number.isInteger(plot._fullData?.[i]?.index))
      arrays.push([Number(i), inside, value]);
    else if (NOTES.test(path)) notes[path] = value;
    else return false;
  }
  const traces = [...new Set(arrays.map(([i]) => i))].filter(
    (i) => plot._fullData[i].visible === true,
  );
  if (!traces.every((i) => canDraw(plot, plot._fullData[i]))) return false;
  for (const [i, inside, value] of arrays) {
    put(plot.data[i], inside, value);
    if (traces.includes(i)) put(plot._fullData[i], inside, value);
  }
  if (!traces.every((i) => computed(plot, i))) return false;
  noted(Plotly, plot, notes);
  const places = new Set(
    traces.map((i) => `${plot._fullData[i].type} ${subplotOf(plot._fullData[i])}`),
  );
  const modules = new Set(
    [...places].map((place) =>
      drawAgain(plot, glided ? null : traces, ...place.split(" "), transition),
    ),
  );
  modules.forEach((module) => module?.style(plot));
  return true;
}

// Texts and lines of the layout.  For plotly a new text means new ranges, hence all is drawn again;
// an opacity means this note.
function noted(Plotly, plot, notes) {
  const touched = {};
  for (const [path, value] of Object.entries(notes)) {
    const [, kind, i, name] = path.match(NOTES) ?? [];
    plot.layout[kind][i][name] = value;
    touched[`${kind}[${i}].opacity`] = plot.layout[kind][i].opacity ?? 1;
  }
  if (Object.keys(touched).length) Plotly.relayout(plot, touched);
}

const subplotOf = (trace) => trace.xaxis + trace.yaxis;

function canDraw(plot, trace) {
  const place = plot._fullLayout?._plots?.[subplotOf(trace)];
  const layer = LAYERS[trace.type];
  if (!place || !layer || trace.zorder || !plot.calcdata?.[trace.index]?.[0]?.trace) return false;
  const { calc, plot: draw, style } = trace._module;
  return (
    [calc, draw, style].every((f) => typeof f === "function") &&
    !place.plot.select(`.${layer}`).empty()
  );
}

// Compute a trace as plotly draws it; false where an axis that looks for its range may now find
// another.
function computed(plot, i) {
  const trace = plot._fullData[i];
  const { t: former } = plot.calcdata[i][0];
  const place = plot._fullLayout._plots[subplotOf(trace)];
  const free = [place.xaxis, place.yaxis].filter((axis) => axis.autorange);
  const inside = () =>
    FIELDS.includes(trace.type) || free.every((axis) => isInside(plot, trace, axis));
  const before = inside();
  if (!FIELDS.includes(trace.type)) trace._length = Math.min(trace.x.length, trace.y.length);
  const points = trace._module.calc(plot, trace);
  points[0].trace = trace;
  points[0].t = { ...former, ...points[0].t };
  plot.calcdata[i] = points;
  return before && inside();
}

// Whether this trace's points, with the room for their markers, lie inside a field along the axis,
// so that the field sets its range.
function isInside(plot, trace, axis) {
  const field = plot._fullData.find(
    (other) =>
      FIELDS.includes(other.type) &&
      other.visible === true &&
      subplotOf(other) === subplotOf(trace),
  );
  const ends = field?._extremes?.[axis._id];
  const mine = trace._extremes?.[axis._id];
  if (!ends?.min?.length || !mine) return false;
  const pixel = Math.abs(axis.range[1] - axis.range[0]) / axis._length;
  const lo = Math.min(...ends.min.map((end) => end.val));
  const hi = Math.max(...ends.max.map((end) => end.val));
  const room = ({ pad, extrapad }) => pixel * (pad + (extrapad ? axis._length / 20 : 0));
  return (
    mine.min.every((end) => end.val - room(end) >= lo) &&
    mine.max.every((end) => end.val + room(end) <= hi)
  );
}

// Traces of a type in a subplot: of `some` (null: all) those alone that plotly draws each by
// itself, else all, for their order is
// that of drawing.  Returns the module where its styles are still to be set.
function drawAgain(plot, some, type, subplot, transition) {
  const place = plot._fullLayout._plots[subplot];
  const all = plot.calcdata.filter(
    ([{ trace }]) =>
      trace?.type === type &&
      trace.visible === true &&
      trace._length !== 0 &&
      subplotOf(trace) === subplot,
  );
  const { _module: module } = all[0][0].trace;
  const layer = place.plot.select(`.${LAYERS[type]}`);
  module.crossTraceCalc?.(plot, place);
  all.forEach(errorBars);
  if (type !== "scatter") {
    module.plot(plot, place, all, layer);
    return module;
  }
  const there = layer.selectAll("g.trace").size() === all.length;
  const alone =
    there &&
    some &&
    !transition &&
    all.every(([{ trace }]) => !/^tonext/.test(trace.fill) && !trace.stackgroup);
  if (alone) {
    // a transition of no time: the others are left as they are
    all
      .filter(([{ trace }]) => some.includes(trace.index))
      .forEach((one) => module.plot(plot, place, [one], layer, { duration: 0 }));
  } else module.plot(plot, place, all, layer, transition);
  // what a zoom keeps in size
  place.zoomScalePts = layer.selectAll(".trace").selectAll("path.point");
  return alone && !all.some(([{ trace }]) => trace.error_y?.visible || trace.error_x?.visible)
    ? null
    : module;
}

// The ends of the error bars of a trace, which plotly computes for all traces at once only.
function errorBars(points) {
  const { error_y: bar } = points[0].trace;
  if (!bar?.visible) return;
  points.forEach((point, k) => {
    const i = point.i ?? k;
    const up = bar.array[i];
    const down = (bar.symmetric ? bar.array : bar.arrayminus)[i];
    if (Number.isFinite(point.y) && Number.isFinite(up) && Number.isFinite(down))
      Object.assign(point, { yh: point.y + up, ys: point.y - down });
  });
}

// End what glides, where it is: what is drawn next must not be moved by it.
export function interrupted(plot) {
  for (const { plot: inside } of Object.values(plot._fullLayout?._plots ?? {}))
    inside?.selectAll("*").interrupt().transition().duration(0);
}
