// ---- one picture
import { element } from "./elements.js";
import { recolored } from "./colors.js";
import { axisName, keyLine, labelled, narrower, printOf, slim, smaller } from "./narrow.js";
import { assigned, bound } from "./records.js";
import { interrupted, redrawn, same } from "./redraw.js";
import { above, beside, fitted, stacked } from "./room.js";

const TOUCH = matchMedia("(pointer: coarse)");

// A picture in one of its two places, A or B: drawn when it is in sight, and then only where its
// state changed.
export class Picture {
  entry;
  tools;
  state;
  scene;
  revision;
  member;

  constructor(entry, letter, tools) {
    this.entry = entry;
    this.tools = tools;
    this.state = "";
    this.width = 0;
    this.revision = 0;
    this.glides = 0;
    this.mark = element("span", { class: "fv-letter", hidden: "" }, letter);
    this.plot = element("div", { role: "group" });
    this.node = element("div", { class: "fv-plot" }, this.mark, this.plot);
    this.rings = [];
  }

  // height, width: px; most: px of height that leave the controls in sight; dark: colours; ranges:
  // axis -> range that holds every member.  True where something was drawn.
  draw(
    member,
    n,
    {
      height,
      most = Infinity,
      width = this.plot.clientWidth,
      dark,
      phone = false,
      ranges,
      transition,
    },
  ) {
    const { entry, plot, tools } = this;
    const { index, Plotly } = tools;
    const narrow = width < 460 && narrower(entry, width, phone);
    this.narrow = Boolean(narrow) && phone;
    if (entry.layout.yaxis?.scaleanchor && !entry.layout.xaxis2) {
      // a square, and the room around it
      const { t, b, l, r } = (narrow || null)?.margin ?? {};
      const square = narrow ? t + b + width - l - r - 66 : above(entry.layout) + width - 100;
      height = Math.round(
        narrow
          ? Math.min(square, Math.max(most, t + b + 85))
          : Math.max(300, Math.min(height, square)),
      );
    }
    if (entry.layout.yaxis?.scaleanchor && entry.layout.xaxis2 && !narrow) {
      // squares side by side
      const panels = Object.keys(entry.layout).filter((name) => /^xaxis\d*$/.test(name)).length;
      height = Math.round(
        Math.max(300, Math.min(height, above(entry.layout) + (width - 160) / panels + 70)),
      );
    }
    const placed = narrow || beside(entry, ranges, width, height);
    const sized = entry.binds.some((b) => b.rows !== "all");
    const scene = [placed && width, dark, height, JSON.stringify(ranges)].join("/");
    const state = [
      scene,
      member.meta.method,
      member.meta.radius,
      member.version ?? 0,
      sized ? n : "",
    ].join("/");
    if (this.state === state) {
      this.resize(width);
      return false;
    }
    const first = !this.state;
    const values = entry.binds.map((bind) => bound(bind, index.fields, member, n));
    const changes =
      first || this.scene !== scene
        ? null
        : entry.binds.flatMap(({ path }, i) =>
            same(values[i], this.values[i])
              ? []
              : [[path, dark ? recolored(values[i]) : values[i]]],
          );
    this.state = state;
    this.scene = scene;
    this.member = member;
    this.values = values;
    const glided = performance.now() < this.glides;
    if (glided) interrupted(plot);
    this.glides = transition ? performance.now() + transition.duration + 100 : 0;
    if (changes && redrawn(Plotly, plot, changes, transition, glided)) {
      this.resize(width);
      return true;
    }
    let drawn = {
      data: entry.data,
      layout: { ...entry.layout, height, uirevision: "kept", datarevision: ++this.revision },
    }; // a copy: plotly writes into what it is given
    entry.binds.forEach((bind, i) => {
      drawn = assigned(drawn, bind.path.split("."), values[i]);
    });
    for (const [axis, range] of Object.entries(ranges))
      drawn = assigned(drawn, ["layout", axis, "range"], range);
    if (placed) drawn.layout = { ...drawn.layout, margin: placed.margin };
    drawn.layout = stacked(drawn.layout, width);
    drawn = fitted(drawn, width, height);
    if (narrow) drawn.data = labelled(drawn.data).map(slim);
    this.print = narrow ? printOf(drawn.layout) : "";
    if (narrow) drawn.layout = smaller({ ...drawn.layout, ...keyLine(drawn, width) }, phone);
    if (TOUCH.matches) drawn.layout.dragmode = false; // a swipe scrolls the page
    if (dark) drawn = { data: recolored(drawn.data), layout: recolored(drawn.layout) };
    else drawn = { data: drawn.data.map((trace) => ({ ...trace })), layout: drawn.layout };
    this.width = width;
    plot.style.height = `${height}px`; // a resize by plotly forgets the layout's own
    Plotly.react(plot, drawn.data, drawn.layout, index.config);
    if (first) this.listen();
    else if (plot._fullLayout.width !== width) Plotly.Plots.resize(plot);
    return true;
  }

  // The figure is another: draw it whole the next time.
  renew() {
    if (this.state) {
      this.state = "elsewhere";
      this.scene = "";
    }
  }

  describe(text) {
    this.plot.setAttribute("aria-label", text);
  }

  // width: of its place, where that is known: to ask for it has the browser lay the page out.
  resize(width = this.plot.clientWidth) {
    // plotly gives a resize up where the picture is put away meanwhile
    const shown = this.plot._fullLayout?.width ?? width;
    if (!this.state || !width || (width === this.width && Math.abs(shown - width) < 2)) return;
    this.width = width;
    this.tools.Plotly.Plots.resize(this.plot);
  }

  // ---- draws that the reader points at
  listen() {
    const draw = (event) => this.drawOf(event.points?.[0]);
    const tell = (kind) => (event) => {
      const d = draw(event);
      if (d !== null) this.tools.point(kind, d);
    };
    this.plot.on("plotly_hover", tell("hover"));
    this.plot.on("plotly_click", tell("click"));
    this.plot.on("plotly_unhover", () => this.tools.point("hover", null));
    this.plot.on("plotly_relayout", () => this.tools.replace(this));
  }

  drawOf(point) {
    if (!point) return null;
    const { link } = this.entry;
    const kind = link[point.data.name];
    if (kind === "draws") return point.pointNumber;
    if (kind === "eigenvalues") return Math.floor(point.pointNumber / this.perDraw(point.data));
    if (link.x === "sizes") return Math.round(point.x) - 1;
    return null;
  }

  perDraw(trace) {
    return Math.max(1, Math.round(trace.x.length / this.member.meta.n_spectra));
  }

  // Rings at the points of this draw, over the picture: plotly draws nothing again.
  light(d) {
    this.rings.forEach((ring) => ring.remove());
    this.rings = [];
    const layout = this.plot._fullLayout;
    if (d === null || !this.state || !layout) return;
    const add = (name, style) => {
      const ring = element("div", {
        class: name,
        style: Object.entries(style)
          .map(([k, v]) => `${k}:${v.toFixed(1)}px`)
          .join(";"),
      });
      this.rings.push(ring);
      this.node.append(ring);
    };
    const { link } = this.entry;
    const top = this.plot.offsetTop;
    const left = this.plot.offsetLeft;
    for (const trace of this.plot._fullData) {
      const kind = link[trace.name];
      const x = layout[axisName(trace.xaxis ?? "x")];
      const y = layout[axisName(trace.yaxis ?? "y")];
      if (!kind || !x?.d2p || !trace.x) continue;
      const k = kind === "draws" ? 1 : this.perDraw(trace);
      for (let i = d * k; i < (d + 1) * k && i < trace.x.length; i++) {
        const at = {
          left: left + x._offset + x.d2p(trace.x[i]),
          top: top + y._offset + y.d2p(trace.y[i]),
        };
        if (Number.isFinite(at.left) && Number.isFinite(at.top)) add("fv-ring", at);
      }
    }
    if (link.x === "sizes" && layout.xaxis?.d2p) {
      const { t, h } = layout._size;
      add("fv-rule", {
        left: left + layout.xaxis._offset + layout.xaxis.d2p(d + 1),
        top: top + t,
        height: h,
      });
    }
  }

  // The picture as a data URL.
  image(format, scale = 1) {
    const { width, height } = this.plot._fullLayout;
    return this.tools.Plotly.toImage(this.plot, { format, width, height, scale });
  }
}
