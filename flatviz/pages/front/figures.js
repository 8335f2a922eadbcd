// ---- one picture
import { STILL, element } from "./elements.js";
import { recolored } from "./colors.js";
import { SLIDE_MS } from "./controls.js";
import { axisName, keyLine, labelled, narrower, printOf, slim, smaller } from "./narrow.js";
import { assigned, between, bound } from "./records.js";
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
  // axis -> range that holds every member; at: the phase.  True where something was drawn.
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
      at = 0,
    },
  ) {
    const { entry, plot, tools } = this;
    const { index, Plotly } = tools;
    const narrow = width < 460 && narrower(entry, width, phone);
    this.narrow = Boolean(narrow) && phone;
    if (entry.layout.yaxis?.scaleanchor && !entry.layout.xaxis2) {
      // a square, and the room around it
      const { t, b, l, r } = (narrow || null)?.margin ?? {};
      const square = narrow
        ? t + b + width - l - r - (entry.phases.length ? 0 : 66)
        : above(entry.layout) + width - 100;
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
    if (narrow && entry.phases.length)
      ranges = this.low(
        ranges,
        (height - narrow.margin.t - narrow.margin.b) / (width - narrow.margin.l - narrow.margin.r),
        n,
      );
    const placed = narrow || beside(entry, ranges, width, height);
    const sized = entry.binds.some((b) => b.rows !== "all" && b.rows !== "phase");
    const scene = [placed && width, dark, height, JSON.stringify(ranges)].join("/");
    const place = [
      scene,
      member.meta.method,
      member.meta.radius,
      member.version ?? 0,
      sized ? n : "",
    ].join("/");
    const state = `${place}/${at}`;
    if (this.state === state) {
      this.resize(width);
      return false;
    }
    const first = !this.state;
    const values = entry.binds.map((bind) => bound(bind, index.fields, member, n, at));
    if (this.place === place && !STILL.matches) {
      this.slide(values, { state, at, dark });
      return false;
    }
    this.place = place;
    if (entry.phases.length) plot.dataset.phase = at;
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
      this.spread();
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
    if (narrow) drawn.data = labelled(drawn.data).map((t) => slim(t, entry));
    this.print = narrow ? printOf(drawn.layout) : "";
    if (narrow) drawn.layout = smaller({ ...drawn.layout, ...keyLine(drawn, width) }, entry, phone);
    if (TOUCH.matches) drawn.layout.dragmode = false; // a swipe scrolls the page
    if (dark) drawn = { data: recolored(drawn.data), layout: recolored(drawn.layout) };
    else drawn = { data: drawn.data.map((trace) => ({ ...trace })), layout: drawn.layout };
    this.width = width;
    plot.style.height = `${height}px`; // a resize by plotly forgets the layout's own
    Plotly.react(plot, drawn.data, drawn.layout, index.config);
    if (first) this.listen();
    else if (plot._fullLayout.width !== width) Plotly.Plots.resize(plot);
    this.spread();
    return true;
  }

  // Ranges of a step in a picture `share` as high as wide: its ground is cut above and below, as
  // far as no member's step needs it.
  low(ranges, share, n) {
    const { entry, tools } = this;
    const [x, y] = ["xaxis", "yaxis"].map((axis) => ranges[axis] ?? entry.layout[axis].range);
    const middle = (y[0] + y[1]) / 2;
    const drawn = entry.binds.filter(({ path }) => path.endsWith(".y"));
    let half = (share * (x[1] - x[0])) / 2;
    for (const bind of drawn)
      for (const member of tools.members)
        for (const at of entry.phases.keys()) {
          for (const v of bound(bind, tools.index.fields, member, n, at))
            half = Math.max(half, 1.06 * Math.abs(v - middle) || 0); // NaN: it is not drawn
        }
    return half < y[1] - middle ? { ...ranges, yaxis: [middle - half, middle + half] } : ranges;
  }

  // To another phase: points and heads of arrows move in straight lines, texts change at half of
  // the way.
  slide(values, { state, at, dark }) {
    const { entry, plot, tools } = this;
    const from = this.values;
    const start = performance.now();
    let glided = start < this.glides; // to another radius
    if (glided) interrupted(plot);
    this.state = state;
    this.glides = 0;
    delete plot.dataset.phase;
    const step = () => {
      if (this.state !== state) return; // it goes elsewhere now
      const share = Math.min(1, (performance.now() - start) / SLIDE_MS);
      const done = share * share * (3 - 2 * share);
      const mixed = values.map((v, i) =>
        entry.binds[i].rows === "phase" ? between(from[i], v, done) : v,
      );
      const changes = entry.binds.flatMap(({ path }, i) =>
        same(mixed[i], this.values[i]) ? [] : [[path, dark ? recolored(mixed[i]) : mixed[i]]],
      );
      this.values = mixed;
      const drawn = plot.clientWidth && redrawn(tools.Plotly, plot, changes, undefined, glided);
      glided = false;
      if (!drawn) {
        this.renew();
        tools.redraw();
      } else if (share < 1) requestAnimationFrame(step);
      else {
        plot.dataset.phase = at;
        this.spread();
      }
    };
    requestAnimationFrame(step);
  }

  // Labels of the step that would cover each other stand a little apart, inside the picture.
  spread() {
    if (!this.entry.phases.length) return;
    const { left, right, top, bottom } =
      this.plot
        .querySelector(".plotbg, .bglayer .bg, .draglayer .nsewdrag")
        ?.getBoundingClientRect() ?? {};
    const placed = [];
    for (const label of this.plot.querySelectorAll(".scatterlayer .textpoint")) {
      label.style.transform = "";
      const box = label.getBoundingClientRect();
      if (!box.width) continue;
      const moved = (/** @type {number[]} */ [x, y]) => ({
        left: box.left + x,
        right: box.right + x,
        top: box.top + y,
        bottom: box.bottom + y,
      });
      const free = (way) => {
        const b = moved(way);
        return (
          b.left > left &&
          b.right < right &&
          b.top > top &&
          b.bottom < bottom &&
          placed.every(
            (p) =>
              b.right < p.left || b.left > p.right || b.bottom < p.top + 3 || b.top > p.bottom - 3,
          )
        );
      };
      const way = [0, 14, 26, 40]
        .flatMap((far) => [
          [0, -far],
          [0, far],
          [far, 0],
          [-far, 0],
          [far, -far],
          [-far, -far],
          [far, far],
          [-far, far],
        ])
        .find(free);
      label.style.visibility = way ? "" : "hidden"; // no room for it at all
      if (!way) continue;
      label.style.transform = `translate(${way[0]}px, ${way[1]}px)`;
      placed.push(moved(way));
    }
  }

  // The figure is another: draw it whole the next time.
  renew() {
    if (this.state) {
      this.state = "elsewhere";
      this.scene = "";
      this.place = "";
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
