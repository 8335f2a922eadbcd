// ---- images on which the draws disagree
import { drawing, element, loaded } from "./elements.js";
import { Picture } from "./figures.js";
import { NAME, cut, imageUrl, imagesOf, percent } from "./thumbnails.js";
import { probabilities } from "./votes.js";

// Thumbnails with the draws' votes, and for one of them each draw's class probabilities.  It stands
// where a `Picture` stands.
export class ImagePicture extends Picture {
  chosen;
  n;
  height;
  dark;
  /** @type {any} */
  chart;
  /** @type {any} */
  ink;

  constructor(entry, letter, tools) {
    super(entry, letter, tools);
    this.lit = this.pointed = null;
    const over = (e) => e.target.closest?.("[data-row]");
    const near = (e) => e.target.closest?.("[data-chart]");
    this.plot.addEventListener("pointermove", (e) => {
      const tile = over(e);
      if (tile) this.show(Number(tile.dataset.row));
      else if (near(e)) this.point("hover", e);
    });
    this.plot.addEventListener("pointerleave", () => {
      this.show(null);
      this.tools.point("hover", null);
    });
    this.plot.addEventListener("click", (e) => {
      const tile = over(e);
      if (tile) this.tools.choose("image", tile.dataset.row);
      else if (near(e)) this.point("click", e);
    });
    this.plot.addEventListener("keydown", (e) => {
      const tile = over(e);
      if (tile && (e.key === "Enter" || e.key === " ")) {
        e.preventDefault();
        this.tools.choose("image", tile.dataset.row);
      }
    });
    this.plot.addEventListener("focusin", (e) => {
      const tile = over(e);
      if (tile && !this.painting) this.show(Number(tile.dataset.row));
    });
  }

  draw(member, n, { height, width = this.plot.clientWidth, dark }) {
    const { tools } = this;
    const chosen = tools.chosen().image ?? "";
    const state = [
      width,
      member.meta.method,
      member.meta.radius,
      member.version ?? 0,
      n,
      dark,
      height,
      chosen,
    ].join("/");
    if (this.state === state) return false;
    // the chosen one is in the chart until another is pointed at
    if (chosen !== this.chosen) this.pointed = null;
    this.state = state;
    this.member = member;
    this.n = n;
    this.height = height;
    this.dark = dark;
    this.chosen = chosen;
    this.width = width;
    this.paint();
    return true;
  }

  resize() {
    if (!this.state || !this.plot.clientWidth || this.plot.clientWidth === this.width) return;
    this.width = this.plot.clientWidth;
    this.paint();
  }

  light(d) {
    if (this.lit === d || !this.state) return;
    this.lit = d;
    this.paint();
  }

  show(row) {
    if (this.pointed === row || (row === null && !this.state)) return;
    this.pointed = row;
    this.paint();
  }

  // The draw whose line is nearest to the pointer, at the nearest class.
  point(kind, e) {
    const { left, top } = this.plot.firstChild.getBoundingClientRect();
    const { x, y, step, items } = this.chart;
    const c = Math.max(
      0,
      Math.min(items.classes.length - 1, Math.floor((e.clientX - left - x(0) + step / 2) / step)),
    );
    const off = (d) => {
      const p = items.prob(d, this.now.place, c);
      return Number.isFinite(p) ? Math.abs(y(p) - (e.clientY - top)) : Infinity;
    };
    const d = Array.from({ length: items.kept(this.n) }, (_, i) => i).reduce(
      (best, i) => (off(i) < off(best) ? i : best),
      0,
    );
    if (off(d) < 14) this.tools.point(kind, d);
    else if (kind === "hover") this.tools.point("hover", null);
  }

  paint() {
    const { plot, member, n, width, height, dark } = this;
    if (!width) return;
    const items = imagesOf(member);
    const all = items.of(n);
    const wide = width >= 620;
    this.ink = dark
      ? { ink: "#e4e7eb", soft: "#a3aeb9", line: "#3a434d", paper: "#15191e", mark: "#ff9d5c" }
      : { ink: "#1f2933", soft: "#52606d", line: "#d9dee4", paper: "#ffffff", mark: "#b84a00" };
    const row =
      [this.pointed, Number(this.chosen || NaN)].find((r) => all.some((i) => i.row === r)) ??
      all[0].row;
    this.now = all.find((i) => i.row === row);
    const active = /** @type {HTMLElement} */ (document.activeElement);
    const focused = plot.contains(active) ? active.dataset.row : null;
    const svg = drawing("svg", {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-size": 12,
      "font-family": "system-ui, sans-serif",
      fill: this.ink.ink,
    });
    svg.append(drawing("rect", { width, height, fill: this.ink.paper }));
    const tiles = wide
      ? { left: 8, top: 34, width: 0.52 * width - 16, height: height - 40 }
      : { left: 6, top: 30, width: width - 12, height: 0.54 * height - 30 };
    const across = wide ? 0.48 * width - 62 : width - 52;
    const longest = Math.min(NAME, Math.max(...items.classes.map((c) => c.length)));
    const turned = across / items.classes.length < 7 * longest;
    const foot = turned ? 34 + 4.3 * longest : 36; // px, down to the axis title
    const chart = wide
      ? {
          left: 0.52 * width + 46,
          top: 58,
          width: across,
          height: height - 82 - foot,
          turned,
          foot,
        }
      : {
          left: 40,
          top: 0.54 * height + 50,
          width: across,
          height: 0.46 * height - 60 - foot,
          turned,
          foot,
        };
    const title = (text, x, y, size = 15) =>
      svg.append(drawing("text", { x, y, "font-size": size }, text));
    // one draw disagrees with nobody
    const where = items.kept(n) === 1 ? "it is least sure" : "the draws disagree most";
    title(
      wide && items.kept(n) > 1 ? `Images on which ${where}` : `Where ${where}`,
      tiles.left + (this.mark.hidden ? 4 : 18),
      22,
    );
    all.forEach((item, k) => svg.append(this.tile(items, item, k, all.length, tiles)));
    svg.append(probabilities(this, items, chart));
    plot.style.height = `${height}px`;
    plot.replaceChildren(svg);
    this.painting = true;
    if (focused) plot.querySelector(`[data-row="${focused}"]`)?.focus(); // it was there before
    this.painting = false;
    this.drawn = { rows: all.map((i) => i.row), row };
    this.name();
  }

  describe(text) {
    this.words = text;
    this.name();
  }

  // What is to be seen, for a reader who does not: the labels of the images, and which of them is
  // in the chart.
  name() {
    if (!this.now || !this.words) return;
    const { classes, of } = imagesOf(this.member);
    const labels = of(this.n)
      .map((i) => classes[i.label])
      .join(", ");
    this.plot.setAttribute(
      "aria-label",
      `${this.words} Labels of the images: ${labels}; in the chart test image ${this.now.row}, label ${classes[this.now.label]}.`,
    );
  }

  // One image; below it its label and disagreement, and how the draws vote, or what the draw says
  // that is pointed at.
  tile(items, { place, row, label, nats }, k, count, { left, top, width, height }) {
    const columns = 4;
    const rows = Math.ceil(count / columns);
    const w = width / columns;
    const side = Math.min(w - 10, height / rows - 48);
    const h = side + 48;
    const x = left + (k % columns) * w + (w - side) / 2;
    const y = top + Math.floor(k / columns) * h;
    const { member, tools, lit, n, ink } = this;
    const kept = items.kept(n);
    const { classes } = items;
    const votes = new Map();
    for (let d = 0; d < kept; d++) {
      const c = this.best(items, d, place);
      votes.set(c, (votes.get(c) ?? 0) + 1);
    }
    const ordered = [...votes].sort((a, b) => b[1] - a[1]);
    const one = lit !== null && lit < kept ? this.best(items, lit, place) : null;
    const said =
      one === null
        ? ordered.map(([c, v]) => `${classes[c] ?? "none"}${kept > 1 ? `×${v}` : ""}`).join(" ")
        : `${w > 110 ? `draw ${lit + 1}: ` : ""}${classes[one] ?? "none"}, ${percent(items.prob(lit, place, one))}`;
    const most = Math.floor((w - 8) / 6.9);
    const line = cut(said, most);
    const value = nats.toFixed(2);
    const told =
      [`${classes[label]} · ${value} nats`, `${classes[label]} · ${value}`].find(
        (t) => t.length <= most,
      ) ?? `${cut(classes[label], most - value.length - 3)} · ${value}`;
    const name = `test image ${row}, label ${classes[label]}, disagreement ${nats.toFixed(2)} nats; answers ${said}`;
    const image = drawing("image", {
      x,
      y,
      width: side,
      height: side,
      href: imageUrl(row, member.meta.images, tools.index.images),
      style: "image-rendering:pixelated",
    });
    const frame = { x: x - 1, y: y - 1, width: side + 2, height: side + 2, fill: "none" };
    const here = this.now.row === row;
    const wrong = one !== null && one !== label;
    return drawing(
      "g",
      {
        "data-row": row,
        role: "button",
        tabindex: 0,
        "aria-label": name,
        "aria-pressed": here,
        style: "cursor:pointer",
      },
      drawing("title", {}, name),
      image,
      drawing("rect", {
        ...frame,
        stroke: here ? ink.mark : ink.line,
        "stroke-width": here ? 3 : 1,
      }),
      drawing("text", { x: x + side / 2, y: y + side + 16, "text-anchor": "middle" }, told),
      drawing(
        "text",
        {
          x: x + side / 2,
          y: y + side + 32,
          "text-anchor": "middle",
          "font-size": 11.5,
          class: "fv-said",
          "font-weight": one === null ? 400 : 600,
          fill: one === null ? ink.soft : wrong ? ink.mark : ink.ink,
        },
        line,
      ),
    );
  }

  best(items, d, place) {
    let best = NaN;
    let most = -1;
    items.classes.forEach((_, c) => {
      const p = items.prob(d, place, c);
      if (p > most) [best, most] = [c, p];
    });
    return best;
  }

  // The picture as a data URL.
  async image(format, scale = 1) {
    const { width, height } = this;
    const svg = this.plot.firstChild.cloneNode(true);
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const url = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
    if (format === "svg") return url;
    const image = await loaded(url);
    const canvas = element("canvas", { width: width * scale, height: height * scale });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
  }
}
