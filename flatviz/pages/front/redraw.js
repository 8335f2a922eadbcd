// ---- drawing again only what changed

// Plotly.react computes every trace, axis, title and legend of a figure again, 20 to 60 ms, and
// what a control moves is the data of a few traces. `redrawn` has plotly's own trace modules
// compute and draw those, 1 to 10 ms, and says whether it could: not where something else changed,
// where the range of an axis may have, or where this plotly.js is made otherwise.

/**
 * @import { Extreme, FullAxis, FullTrace, Plotly, PlotElement, Point, Transition,
 *   Value } from "./types.d.ts"
 */

const DATA =
  /^data\.(\d+)\.(x|y|z|text|customdata|marker\.(?:size|color|opacity|symbol|line\.color)|error_y\.array(?:minus)?)$/;
const NOTES = /^layout\.(annotations|shapes)\.(\d+)\.(text|x0|x1|y0|y1)$/;
/** The layer of a type of traces in its subplot. @type {Record<string, string>} */
const LAYERS = {
  scatter: "scatterlayer",
  bar: "barlayer",
  contour: "contourlayer",
  heatmap: "heatmaplayer",
};
const FIELDS = ["contour", "heatmap"]; // traces that reach to their ends, whatever their values

/**
 * Whether two values are equal, lists number by number.
 * @param {Value} a
 * @param {Value} b
 * @returns {boolean}
 */
export function same(a, b) {
  return Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((v, i) => same(v, b[i]))
    : Object.is(a, b);
}

/**
 * Put a value at a path.
 * @param {object} target
 * @param {string} path
 * @param {Value} value
 */
function put(target, path, value) {
  const keys = path.split(".");
  const last = keys[keys.length - 1];
  let at = /** @type {Record<string, object>} */ (target);
  for (const key of keys.slice(0, -1)) at = /** @type {Record<string, object>} */ (at[key]);
  Object.assign(at, { [last]: value });
}

/**
 * Draw again only what changed: plotly's own trace modules compute and draw the traces. Returns
 * whether it could.
 * @param {Plotly} Plotly
 * @param {PlotElement} plot
 * @param {[path: string, value: Value][]} changes
 * @param {Transition | undefined} transition of points that glide there
 * @param {boolean} glided whether any trace was interrupted on its way: then those that do not
 *   change are drawn too
 */
export function redrawn(Plotly, plot, changes, transition, glided) {
  /** @type {{ i: number, path: string, value: Value[] }[]} */
  const arrays = [];
  /** @type {[path: string, value: Value][]} */
  const notes = [];
  for (const [path, value] of changes) {
    const [, i = "", inside = ""] = path.match(DATA) ?? [];
    const there = inside && Number.isInteger(plot._fullData?.[Number(i)]?.index);
    if (there && Array.isArray(value)) arrays.push({ i: Number(i), path: inside, value });
    else if (NOTES.test(path)) notes.push([path, value]);
    else return false;
  }
  const changed = new Set(arrays.map(({ i }) => i));
  const traces = [...changed].filter((i) => plot._fullData[i].visible === true);
  if (!traces.every((i) => canDraw(plot, plot._fullData[i]))) return false;
  for (const { i, path, value } of arrays) {
    put(plot.data[i], path, value);
    if (traces.includes(i)) put(plot._fullData[i], path, value);
  }
  if (!traces.every((i) => computed(plot, i))) return false;
  noted(Plotly, plot, notes);
  /** @type {Map<string, FullTrace>} */
  const places = new Map(); // a trace of each type in each subplot
  for (const i of traces) {
    const trace = plot._fullData[i];
    places.set(`${trace.type} ${subplotOf(trace)}`, trace);
  }
  const some = glided ? null : traces;
  const drawn = [...places.values()].map((like) => drawAgain(plot, some, like, transition));
  for (const module of new Set(drawn)) module?.style(plot);
  return true;
}

/**
 * Change texts and lines of the layout. For plotly a new text means new ranges, hence all is drawn
 * again; an opacity means this note.
 * @param {Plotly} Plotly
 * @param {PlotElement} plot
 * @param {[path: string, value: Value][]} notes
 */
function noted(Plotly, plot, notes) {
  /** @type {Record<string, number>} */
  const touched = {};
  for (const [path, value] of notes) {
    const [, kind, i, name] = path.match(NOTES) ?? [];
    const all = kind === "shapes" ? plot.layout.shapes : plot.layout.annotations;
    const note = all?.[Number(i)];
    if (!note) continue;
    put(note, name, value);
    touched[`${kind}[${i}].opacity`] = note.opacity ?? 1;
  }
  if (Object.keys(touched).length) Plotly.relayout(plot, touched);
}

/** The key of a trace's subplot. @param {FullTrace} trace */
const subplotOf = (trace) => trace.xaxis + trace.yaxis;

/**
 * Whether this trace can be drawn by itself.
 * @param {PlotElement} plot
 * @param {FullTrace} trace
 */
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

/**
 * Compute a trace as plotly draws it; false where an axis that looks for its range may now find
 * another.
 * @param {PlotElement} plot
 * @param {number} i
 */
function computed(plot, i) {
  const trace = plot._fullData[i];
  const { t: former } = plot.calcdata[i][0];
  const place = plot._fullLayout?._plots[subplotOf(trace)];
  const axes = place ? [place.xaxis, place.yaxis] : [];
  const free = axes.filter((axis) => axis.autorange);
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

/**
 * Whether this trace's points, with the room for their markers, lie inside a field along the axis,
 * so that the field sets its range.
 * @param {PlotElement} plot
 * @param {FullTrace} trace
 * @param {FullAxis} axis
 */
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
  const room = (/** @type {Extreme} */ { pad, extrapad }) =>
    pixel * (pad + (extrapad ? axis._length / 20 : 0));
  return (
    mine.min.every((end) => end.val - room(end) >= lo) &&
    mine.max.every((end) => end.val + room(end) <= hi)
  );
}

/**
 * Draw traces like this one, of its type in its subplot: of `some` (null: all) those alone that
 * plotly draws each by itself, else all, for their order is that of drawing. Returns the module
 * where its styles are still to be set.
 * @param {PlotElement} plot
 * @param {number[] | null} some
 * @param {FullTrace} like
 * @param {Transition | undefined} transition
 */
function drawAgain(plot, some, like, transition) {
  const { type, _module: module } = like;
  const subplot = subplotOf(like);
  const place = plot._fullLayout?._plots[subplot];
  if (!place) return null;
  const drawn = (/** @type {FullTrace | undefined} */ trace) =>
    trace?.type === type &&
    trace.visible === true &&
    trace._length !== 0 &&
    subplotOf(trace) === subplot;
  const all = plot.calcdata.filter(([{ trace }]) => drawn(trace));
  const layer = place.plot.select(`.${LAYERS[type]}`);
  module.crossTraceCalc?.(plot, place);
  all.forEach(errorBars);
  if (type !== "scatter") {
    module.plot(plot, place, all, layer);
    return module;
  }
  const there = layer.selectAll("g.trace").size() === all.length;
  const apart = all.every(([{ trace }]) => !/^tonext/.test(trace.fill ?? "") && !trace.stackgroup);
  const alone = there && some && !transition && apart;
  if (alone) {
    const changed = all.filter(([{ trace }]) => some.includes(trace.index));
    // a transition of no time: the others are left as they are
    for (const one of changed) module.plot(plot, place, [one], layer, { duration: 0 });
  } else module.plot(plot, place, all, layer, transition);
  // what a zoom keeps in size
  place.zoomScalePts = layer.selectAll(".trace").selectAll("path.point");
  const bars = all.some(([{ trace }]) => trace.error_y?.visible || trace.error_x?.visible);
  return alone && !bars ? null : module;
}

/**
 * Set the ends of the error bars of a trace, which plotly computes for all traces at once only.
 * @param {Point[]} points
 */
function errorBars(points) {
  const { error_y: bar } = points[0].trace;
  if (!bar?.visible) return;
  points.forEach((point, k) => {
    const i = point.i ?? k;
    const { y = NaN } = point;
    const up = bar.array[i];
    const down = (bar.symmetric ? bar.array : bar.arrayminus)[i];
    if (![y, up, down].every(Number.isFinite)) return;
    point.yh = y + up;
    point.ys = y - down;
  });
}

/**
 * End what glides, where it is: what is drawn next must not be moved by it.
 * @param {PlotElement} plot
 */
export function interrupted(plot) {
  for (const { plot: inside } of Object.values(plot._fullLayout?._plots ?? {}))
    inside?.selectAll("*").interrupt().transition().duration(0);
}
