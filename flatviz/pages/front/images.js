// ---- images on which the draws disagree
import { drawing, element, loaded, penOf } from "./elements.js";
import { Picture } from "./figures.js";
import { imagesOf, NAME } from "./thumbnails.js";
import { tile } from "./tiles.js";
import { probabilities } from "./votes.js";

/** @import { Entry, ImageItem, Images, Member, Room, Tools } from "./types.d.ts" */
/** @import { Box } from "./tiles.js" */
/** @import { Chart } from "./votes.js" */

/**
 * @typedef {{ member: Member, n: number, width: number, height: number, dark: boolean, chosen:
 *   string }} Drawn
 */

const WIDE = 620; // px: thumbnails and chart stand side by side
const NEAR = 14; // px from the pointer to the line of a draw
const INKS = {
  light: { ink: "#1f2933", soft: "#52606d", line: "#d9dee4", paper: "#ffffff", mark: "#b84a00" },
  dark: { ink: "#e4e7eb", soft: "#a3aeb9", line: "#3a434d", paper: "#15191e", mark: "#ff9d5c" },
};

/**
 * The part of a picture that an event is about.
 * @param {Event} event
 * @param {string} selector
 */
const partAt = ({ target }, selector) =>
  target instanceof Element
    ? /** @type {HTMLElement | SVGElement | null} */ (target.closest(selector))
    : null;

/**
 * Where thumbnails and chart stand.
 * @param {number} width
 * @param {number} height
 * @param {string[]} classes
 */
function boxesOf(width, height, classes) {
  const wide = width >= WIDE;
  const across = wide ? 0.48 * width - 62 : width - 52;
  const longest = Math.min(NAME, Math.max(...classes.map((name) => name.length)));
  const turned = across / classes.length < 7 * longest;
  const foot = turned ? 34 + 4.3 * longest : 36;
  const tiles = wide
    ? { left: 8, top: 34, width: 0.52 * width - 16, height: height - 40 }
    : { left: 6, top: 30, width: width - 12, height: 0.54 * height - 30 };
  const chart = wide
    ? { left: 0.52 * width + 46, top: 58, height: height - 82 - foot }
    : { left: 40, top: 0.54 * height + 50, height: 0.46 * height - 60 - foot };
  return { wide, tiles, chart: { ...chart, width: across, turned, foot } };
}

/**
 * Thumbnails with the draws' votes, and for one of them each draw's class probabilities. It stands
 * where a `Picture` stands.
 */
export class ImagePicture extends Picture {
  /** @type {Drawn | null} */
  drawn = null;
  /** @type {number | null} */
  lit = null; // draw
  /** @type {number | null} */
  pointed = null; // row of the image under the pointer
  /** @type {ImageItem | null} */
  now = null; // the image in the chart
  /** @type {Chart | null} */
  chart = null;
  painting = false;
  words = "";

  /**
   * @param {Entry} entry
   * @param {string} letter
   * @param {Tools} tools
   */
  constructor(entry, letter, tools) {
    super(entry, letter, tools);
    this.listenToTiles();
  }

  /** Show the image that is pointed at in the chart, choose one, and point at a draw there. */
  listenToTiles() {
    const { plot, tools } = this;
    const rowAt = (/** @type {Event} */ e) => partAt(e, "[data-row]")?.dataset.row ?? "";
    const show = (/** @type {string} */ row) => this.show(row ? Number(row) : null);
    plot.addEventListener("pointermove", (e) => {
      const row = rowAt(e);
      if (row) show(row);
      else if (partAt(e, "[data-chart]")) this.point("hover", e);
    });
    plot.addEventListener("pointerleave", () => {
      this.show(null);
      tools.point("hover", null);
    });
    plot.addEventListener("click", (e) => {
      const row = rowAt(e);
      if (row) tools.choose("image", row);
      else if (partAt(e, "[data-chart]")) this.point("click", e);
    });
    plot.addEventListener("keydown", (e) => {
      const row = rowAt(e);
      if (!row || (e.key !== "Enter" && e.key !== " ")) return;
      e.preventDefault();
      tools.choose("image", row);
    });
    plot.addEventListener("focusin", (e) => {
      const row = rowAt(e);
      if (row && !this.painting) show(row);
    });
  }

  /**
   * Draw a member at an ensemble size. Returns whether something was drawn.
   * @param {Member} member
   * @param {number} n
   * @param {Room} room
   */
  draw(member, n, { height, width = this.plot.clientWidth, dark }) {
    const chosen = this.tools.chosen().image ?? "";
    const { method, radius } = member.meta;
    const version = member.version ?? 0;
    const state = [width, method, radius, version, n, dark, height, chosen].join("/");
    if (this.state === state) return false;
    // the chosen one is in the chart until another is pointed at
    if (chosen !== this.drawn?.chosen) this.pointed = null;
    this.state = state;
    this.member = member;
    this.drawn = { member, n, width, height, dark, chosen };
    this.paint();
    return true;
  }

  /** Take the width of its place. */
  resize() {
    const { clientWidth: width } = this.plot;
    if (!this.state || !this.drawn || !width || width === this.drawn.width) return;
    this.drawn.width = width;
    this.paint();
  }

  /** Mark a draw. @param {number | null} d */
  light(d) {
    if (this.lit === d || !this.state) return;
    this.lit = d;
    this.paint();
  }

  /** Show an image in the chart. @param {number | null} row */
  show(row) {
    if (this.pointed === row || (row === null && !this.state)) return;
    this.pointed = row;
    this.paint();
  }

  /**
   * Point at the draw whose line is nearest to the pointer, at the nearest class.
   * @param {"hover" | "click"} kind
   * @param {MouseEvent} e
   */
  point(kind, e) {
    const { chart, drawn, now } = this;
    const svg = this.plot.firstElementChild;
    if (!chart || !drawn || !now || !svg) return;
    const { left, top } = svg.getBoundingClientRect();
    const { x, y, step, items } = chart;
    const place = Math.floor((e.clientX - left - x(0) + step / 2) / step);
    const label = Math.max(0, Math.min(items.classes.length - 1, place));
    const off = (/** @type {number} */ d) => {
      const p = items.prob(d, now.place, label);
      return Number.isFinite(p) ? Math.abs(y(p) - (e.clientY - top)) : Infinity;
    };
    let nearest = 0;
    for (let d = 1; d < items.kept(drawn.n); d++) if (off(d) < off(nearest)) nearest = d;
    if (off(nearest) < NEAR) this.tools.point(kind, nearest);
    else if (kind === "hover") this.tools.point("hover", null);
  }

  /** Draw the picture anew as it stands. */
  paint() {
    const { drawn, plot, lit } = this;
    if (!drawn?.width) return;
    const { member, n, width, height, dark, chosen } = drawn;
    const items = imagesOf(member);
    const all = items.of(n);
    const { wide, tiles, chart: box } = boxesOf(width, height, items.classes);
    const ink = INKS[dark ? "dark" : "light"];
    const wanted = [this.pointed, Number(chosen || NaN)];
    const there = wanted.map((row) => all.find((item) => item.row === row));
    const now = there.find(Boolean) ?? all[0];
    const { activeElement: active } = document;
    const focused = plot.contains(active) ? active?.getAttribute("data-row") : null;
    const svg = drawing("svg", {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-size": 12,
      "font-family": "system-ui, sans-serif",
      fill: ink.ink,
    });
    const pixels = this.tools.index.images;
    const view = { member, items, n, dark, ink, lit, now, pixels };
    const { node, chart } = probabilities(view, box);
    const tilesNow = all.map((item, k) => tile(view, item, k, all.length, tiles));
    const paper = drawing("rect", { width, height, fill: ink.paper });
    svg.append(paper, this.title(items, n, wide, tiles), ...tilesNow, node);
    this.now = now;
    this.chart = chart;
    plot.style.height = `${height}px`;
    plot.replaceChildren(svg);
    this.painting = true;
    const again = focused ? plot.querySelector(`[data-row="${focused}"]`) : null;
    if (again instanceof SVGElement) again.focus(); // it was there before
    this.painting = false;
    this.name();
  }

  /**
   * The words above the thumbnails.
   * @param {Images} items
   * @param {number} n
   * @param {boolean} wide
   * @param {Box} tiles
   */
  title(items, n, wide, tiles) {
    const alone = items.kept(n) === 1; // one draw disagrees with nobody
    const where = alone ? "it is least sure" : "the draws disagree most";
    const text = wide && !alone ? `Images on which ${where}` : `Where ${where}`;
    const x = tiles.left + (this.mark.hidden ? 4 : 18);
    return drawing("text", { x, y: 22, "font-size": 15 }, text);
  }

  /** Describe the picture to a reader who does not see it. @param {string} text */
  describe(text) {
    this.words = text;
    this.name();
  }

  /** Add to the description the labels of the images, and which of them is in the chart. */
  name() {
    const { now, words, drawn } = this;
    if (!now || !words || !drawn) return;
    const { classes, of } = imagesOf(drawn.member);
    const labels = of(drawn.n).map((item) => classes[item.label]);
    const shown = `in the chart test image ${now.row}, label ${classes[now.label]}`;
    const text = `${words} Labels of the images: ${labels.join(", ")}; ${shown}.`;
    this.plot.setAttribute("aria-label", text);
  }

  /**
   * The picture as a data URL.
   * @param {"svg" | "png"} format
   * @param {number} scale
   */
  async image(format, scale = 1) {
    const svg = this.plot.firstElementChild?.cloneNode(true);
    if (!(svg instanceof SVGElement) || !this.drawn) return "";
    const { width, height } = this.drawn;
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const text = new XMLSerializer().serializeToString(svg);
    const url = `data:image/svg+xml,${encodeURIComponent(text)}`;
    if (format === "svg") return url;
    const image = await loaded(url);
    const canvas = element("canvas", { width: width * scale, height: height * scale });
    penOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
  }
}
