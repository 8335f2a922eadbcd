// ---- one picture
import { recolored } from "./colors.js";
import { element } from "./elements.js";
import { marksOf, perDraw } from "./marks.js";
import { keyLine, labelled, narrower, printOf, slim, smaller } from "./narrow.js";
import { assigned, bound } from "./records.js";
import { interrupted, redrawn, same } from "./redraw.js";
import { above, axesOf, beside, fitted, stacked } from "./room.js";

/**
 * @import { Entry, Figure, Margin, Member, PlotElement, PointerAt, Ranges, Room, Tools,
 *   Value } from "./types.d.ts"
 */

/**
 * The room that a picture takes: narrow: its margins in little room; placed: its margins, where
 * they are not the figure's own.
 * @typedef {object} Taken
 * @property {number} width
 * @property {number} height
 * @property {Ranges} ranges
 * @property {{ margin: Margin } | null} narrow
 * @property {{ margin: Partial<Margin> } | null} placed
 */

const TOUCH = matchMedia("(pointer: coarse)");
const NARROW = 460; // px: below, a picture has no legend

/**
 * A picture in one of its two places, A or B: drawn when it is in sight, and then only where its
 * state changed.
 */
export class Picture {
  state = ""; // what it is drawn for: its scene, member and ensemble size
  scene = ""; // its size, colours and ranges
  width = 0;
  revision = 0;
  glides = 0; // until when, in ms of the page
  narrow = false;
  print = ""; // small print that stands in the caption
  /** @type {Value[]} */
  values = []; // of its binds
  /** @type {Member | null} */
  member = null;
  /** @type {HTMLElement[]} */
  rings = [];

  /**
   * @param {Entry} entry
   * @param {string} letter
   * @param {Tools} tools
   */
  constructor(entry, letter, tools) {
    this.entry = entry;
    this.tools = tools;
    this.mark = element("span", { class: "fv-letter", hidden: "" }, letter);
    this.plot = /** @type {PlotElement} */ (element("div", { role: "group" }));
    this.node = element("div", { class: "fv-plot" }, this.mark, this.plot);
  }

  /**
   * Draw a member at an ensemble size. Returns whether something was drawn at once.
   * @param {Member} member
   * @param {number} n
   * @param {Room} room
   */
  draw(member, n, room) {
    const { entry, plot, tools } = this;
    const { dark, transition, phone } = room;
    const taken = this.take(room);
    const { width, height, ranges, placed } = taken;
    this.narrow = Boolean(taken.narrow) && phone;
    const sized = entry.binds.some(({ rows }) => rows !== "all");
    const scene = [placed && width, dark, height, JSON.stringify(ranges)].join("/");
    const { method, radius } = member.meta;
    const state = [scene, method, radius, member.version ?? 0, sized ? n : ""].join("/");
    if (this.state === state) {
      this.resize(width);
      return false;
    }
    const values = entry.binds.map((bind) => bound(bind, tools.index.fields, member, n));
    const first = !this.state;
    const changes = first || this.scene !== scene ? null : this.changesTo(values, dark);
    this.state = state;
    this.scene = scene;
    this.member = member;
    this.values = values;
    const now = performance.now();
    const glided = now < this.glides;
    if (glided) interrupted(plot);
    this.glides = transition ? now + transition.duration + 100 : 0;
    if (changes && redrawn(tools.Plotly, plot, changes, transition, glided)) this.resize(width);
    else this.drawWhole(taken, phone, dark, first);
    return true;
  }

  /**
   * The room that the picture takes of what it is given: squares are as high as wide.
   * @param {Room} room
   * @returns {Taken}
   */
  take({ height: given, most, width = this.plot.clientWidth, phone, ranges }) {
    const { entry } = this;
    const { layout } = entry;
    const narrow = width < NARROW ? narrower(entry, width, phone) : null;
    const square = layout.yaxis?.scaleanchor;
    const panels = layout.xaxis2 ? axesOf(layout).filter((name) => name[0] === "x").length : 1;
    let height = given;
    if (square && narrow && panels === 1) {
      const { t, b, l, r } = narrow.margin;
      const whole = t + b + width - l - r - 66; // a square, and the room around it
      height = Math.round(Math.min(whole, Math.max(most, t + b + 85)));
    } else if (square && !narrow) {
      const below = panels > 1 ? (width - 160) / panels + 70 : width - 100;
      height = Math.round(Math.max(300, Math.min(given, above(layout) + below)));
    }
    const placed = narrow ?? beside(entry, ranges, width, height);
    return { width, height, ranges, narrow, placed };
  }

  /**
   * Draw the figure whole, as plotly does.
   * @param {Taken} taken
   * @param {boolean} phone
   * @param {boolean} dark
   * @param {boolean} first
   */
  drawWhole(taken, phone, dark, first) {
    const { plot, tools } = this;
    const { width, height } = taken;
    const { data, layout } = this.composed(taken, phone);
    if (TOUCH.matches) layout.dragmode = false; // a swipe scrolls the page
    // a copy: plotly writes into what it is given
    const traces = dark ? recolored(data) : data.map((trace) => ({ ...trace }));
    this.width = width;
    plot.style.height = `${height}px`; // a resize by plotly forgets the layout's own
    tools.Plotly.react(plot, traces, dark ? recolored(layout) : layout, tools.index.config);
    if (first) this.listen();
    else if (plot._fullLayout?.width !== width) tools.Plotly.Plots.resize(plot);
  }

  /**
   * The figure with the values of now, in its room.
   * @param {Taken} taken
   * @param {boolean} phone
   * @returns {Figure}
   */
  composed({ width, height, ranges, narrow, placed }, phone) {
    const { entry } = this;
    this.revision += 1;
    const revision = { uirevision: "kept", datarevision: this.revision };
    /** @type {Figure} */
    let drawn = { data: entry.data, layout: { ...entry.layout, height, ...revision } };
    entry.binds.forEach(({ path }, i) => {
      drawn = assigned(drawn, path.split("."), this.values[i]);
    });
    for (const [axis, range] of Object.entries(ranges))
      drawn = assigned(drawn, ["layout", axis, "range"], range);
    if (placed) drawn.layout = { ...drawn.layout, margin: placed.margin };
    drawn.layout = stacked(drawn.layout, width);
    drawn = fitted(drawn, width, height);
    if (narrow) drawn.data = labelled(drawn.data).map(slim);
    this.print = narrow ? printOf(drawn.layout) : "";
    if (narrow) drawn.layout = smaller({ ...drawn.layout, ...keyLine(drawn, width) }, phone);
    return drawn;
  }

  /**
   * Which paths change to other values.
   * @param {Value[]} values
   * @param {boolean} dark
   * @returns {[path: string, value: Value][]}
   */
  changesTo(values, dark) {
    return this.entry.binds.flatMap(({ path }, i) => {
      const value = values[i];
      if (same(value, this.values[i])) return [];
      return [[path, dark ? recolored(value) : value]];
    });
  }

  /** The figure is another: draw it whole the next time. */
  renew() {
    if (this.state) {
      this.state = "elsewhere";
      this.scene = "";
    }
  }

  /** Describe the picture to a reader who does not see it. @param {string} text */
  describe(text) {
    this.plot.setAttribute("aria-label", text);
  }

  /** Take the width of its place: to ask for it has the browser lay the page out. */
  resize(width = this.plot.clientWidth) {
    // plotly gives a resize up where the picture is put away meanwhile
    const shown = this.plot._fullLayout?.width ?? width;
    if (!this.state || !width || (width === this.width && Math.abs(shown - width) < 2)) return;
    this.width = width;
    this.tools.Plotly.Plots.resize(this.plot);
  }

  // ---- draws that the reader points at

  /** Hear from plotly what the reader points at. */
  listen() {
    const { plot, tools } = this;
    const tell = (/** @type {"hover" | "click"} */ kind) => (/** @type {PointerAt} */ event) => {
      const draw = this.drawOf(event);
      if (draw !== null) tools.point(kind, draw);
    };
    plot.on("plotly_hover", tell("hover"));
    plot.on("plotly_click", tell("click"));
    plot.on("plotly_unhover", () => tools.point("hover", null));
    plot.on("plotly_relayout", () => tools.replace(this));
  }

  /** The draw to which the point under the pointer belongs, or null. @param {PointerAt} event */
  drawOf({ points: [point] = [] }) {
    const { member } = this;
    if (!point || !member) return null;
    const { link } = this.entry;
    const kind = link[point.data.name ?? ""];
    if (kind === "draws") return point.pointNumber;
    if (kind === "eigenvalues")
      return Math.floor(point.pointNumber / perDraw(point.data.x, member.meta.n_spectra));
    return link.x === "sizes" ? Math.round(point.x) - 1 : null;
  }

  /** Mark a draw over the picture: plotly draws nothing again. @param {number | null} draw */
  light(draw) {
    for (const ring of this.rings) ring.remove();
    this.rings = [];
    if (draw === null || !this.state || !this.member) return;
    this.rings = marksOf(this.plot, this.entry, draw, this.member.meta.n_spectra);
    this.node.append(...this.rings);
  }

  /**
   * The picture as a data URL.
   * @param {"svg" | "png"} format
   * @param {number} scale
   */
  async image(format, scale = 1) {
    const { width, height } = this.plot._fullLayout ?? {};
    return this.tools.Plotly.toImage(this.plot, { format, width, height, scale });
  }
}
