// The one front end of flatviz: the page of `flatviz tour` embeds this very file, the lab loads it once.
//
// show({Plotly, model, el, bundle}) draws the figures of a family and three controls.  `bundle.index` says what is
// where: `figures` (traces and layout as the Python plot_* functions made them, `binds`, which parts change, and `shared`,
// the axes whose range holds every member), `fields` (name, offset, shape in one member's record of float32), `members`
// (method, radius, label, words, ranges) and `config`, plotly's.  `bundle.buffer` holds the members' records one after
// the other.  `model` is a widget model, or stands in for one:
// get, set, save_changes, on(event, callback), with the traits radius, n_draws and method.

const STYLE = `
.flatviz { font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; color: #1f2933; background: #fff; }
.flatviz .fv-controls { display: flex; flex-wrap: wrap; gap: 10px 28px; align-items: center; padding: 10px 14px; position: sticky;
  top: 0; z-index: 5; background: #f5f7fa; border: 1px solid #d9dee4; border-radius: 8px; }
.flatviz label { display: flex; align-items: center; gap: 8px; font-weight: 600; }
.flatviz label output { font-weight: 400; min-width: 9.5em; font-variant-numeric: tabular-nums; }
.flatviz input[type=range] { width: 190px; accent-color: #009E73; }
.flatviz select, .flatviz input { font: inherit; }
.flatviz select { padding: 2px 6px; background: #fff; color: inherit; }
.flatviz .fv-reading { margin: 10px 2px; min-height: 1.5em; font-variant-numeric: tabular-nums; }
.flatviz .fv-figures { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 14px; }
.flatviz figure { margin: 0; padding: 4px 4px 8px; border: 1px solid #e4e7eb; border-radius: 8px; min-width: 0; background: #fff; }
.flatviz figcaption { padding: 0 12px; color: #52606d; font-size: 12.5px; }
.flatviz.fv-medium figure { grid-column: span 6 !important; } .flatviz.fv-narrow figure { grid-column: span 12 !important; }
`;

// ------------------------------------------------------------------ the family's arrays

function unpack(bundle) {
  const { index } = bundle;
  const bytes = bundle.buffer instanceof ArrayBuffer ? bundle.buffer
    : bundle.buffer.buffer.slice(bundle.buffer.byteOffset, bundle.buffer.byteOffset + bundle.buffer.byteLength);
  const size = index.record;
  return index.members.map((meta, m) => ({ meta, data: new Float32Array(bytes, m * size * 4, size) }));
}

function read(fields, member, name) {
  const { offset, shape } = fields[name];
  const flat = member.data.subarray(offset, offset + shape.reduce((a, b) => a * b, 1));
  if (shape.length === 1) return Array.from(flat);
  const step = flat.length / shape[0];
  return Array.from({ length: shape[0] }, (_, i) => Array.from(flat.subarray(i * step, (i + 1) * step)));
}

// What a bind puts into a figure: a member's array, whole, its first n rows, or its row for n draws; or a word.
function bound({ field, rows }, fields, member, n) {
  if (field in member.meta.words) return member.meta.words[field];
  const values = read(fields, member, field);
  if (rows === "draws") return values.slice(0, n);
  return rows === "size" ? values[n - 1] : values;
}

// A copy of `target` with `value` at the path; what the path does not touch is shared with `target`.
function assigned(target, [key, ...rest], value) {
  const copy = Array.isArray(target) ? [...target] : { ...target };
  copy[key] = rest.length ? assigned(copy[key], rest, value) : value;
  return copy;
}

// ------------------------------------------------------------------ the controls

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const short = (x) => Number(x.toPrecision(3)).toString();

function nearest(values, wanted) {
  return values.reduce((best, v, i) => (Math.abs(v - wanted) < Math.abs(values[best] - wanted) ? i : best), 0);
}

export function show({ Plotly, model, el, bundle }) {
  const { index } = bundle;
  const members = unpack(bundle);
  const fields = index.fields;
  const live = Boolean(index.live);      // whether a kernel can fit what is not there

  const select = element("select", { class: "fv-method" });
  const radius = element("input", { type: "range", class: "fv-radius", min: 0, step: 1 });
  const draws = element("input", { type: "range", class: "fv-draws", min: 1, max: index.n_max, step: 1 });
  const radiusText = element("output"), drawsText = element("output");
  const reading = element("p", { class: "fv-reading", "aria-live": "polite" });
  const controls = element("div", { class: "fv-controls", role: "group", "aria-label": "controls" },
    element("label", {}, "method", select),
    element("label", {}, "radius", radius, radiusText),
    element("label", {}, "ensemble size", draws, drawsText));
  const grid = element("div", { class: "fv-figures" });
  el.classList.add("flatviz");
  el.replaceChildren(element("style", {}, STYLE), controls, reading, grid);

  const figures = index.figures.map((f) => {
    const plot = element("div", { role: "group", "aria-label": f.alt, style: `height:${f.height}px` });
    grid.append(element("figure", { style: `grid-column: span ${f.span}`, "data-name": f.name }, plot, element("figcaption", {}, f.caption)));
    return { ...f, plot, state: "" };
  });
  function arrange() {                                     // columns by the room there is
    el.classList.toggle("fv-medium", el.clientWidth < 1150 && el.clientWidth >= 720);
    el.classList.toggle("fv-narrow", el.clientWidth < 720);
  }
  const watcher = new ResizeObserver(() => {               // of a window, or of a panel of JupyterLab
    arrange();
    for (const f of figures) {
      const width = f.plot.clientWidth;
      if (!f.state || !width || width === f.width) continue;
      f.width = width;
      Plotly.Plots.resize(f.plot);
    }
  });
  watcher.observe(el);

  const methods = () => [...new Set(members.map((m) => m.meta.method))];
  const membersOf = (method) => members.filter((m) => m.meta.method === method);
  const stops = (method) => {                              // where the radius slider stops, 0 first
    const fitted = membersOf(method).map((m) => m.meta.radius);
    const offered = live ? (index.stops[method] ?? []) : [];
    return [...new Set([...fitted, ...offered])].sort((a, b) => a - b);
  };
  const remembered = {};                                   // a radius never moves from one unit to another

  function current() {
    const method = methods().includes(model.get("method")) ? model.get("method") : methods()[0];
    const all = membersOf(method), wanted = model.get("radius");
    const member = all[nearest(all.map((m) => m.meta.radius), wanted)];
    return { method, member, wanted, n: Math.max(1, Math.min(index.n_max, model.get("n_draws"))) };
  }

  function drawControls({ method, member, wanted, n }) {
    select.replaceChildren(...methods().map((m) => {
      const option = element("option", { value: m }, membersOf(m)[0].meta.label);
      option.selected = m === method;
      return option;
    }));
    const at = stops(method), i = nearest(at, wanted);
    radius.max = Math.max(1, at.length - 1);
    radius.disabled = at.length < 2;
    radius.value = i;
    const unit = member.meta.unit;
    const text = at.length < 2 ? "none" : `${short(wanted)} ${unit}${wanted === 0 ? " (= VI)" : ""}`;
    radiusText.textContent = text;
    radius.setAttribute("aria-valuetext", text);
    draws.value = n;
    drawsText.textContent = `${n} ${n === 1 ? "draw" : "draws"}`;
    draws.setAttribute("aria-valuetext", drawsText.textContent);
  }

  function sentence({ member, wanted, n }) {
    const value = (name) => read(fields, member, name);
    const at = (name) => value(name)[n - 1];
    const r = member.meta.radius;
    const missing = Math.abs(r - wanted) > 1e-6 * Math.max(1, wanted) && membersOf(member.meta.method).length > 1
      ? `radius ${short(wanted)} is not fitted; shown: ` : "";
    return `${missing}${member.meta.label}${r > 0 ? `, radius ${short(r)} ${member.meta.unit}` : ""}, ${n} ${n === 1 ? "draw" : "draws"}: `
      + `accuracy ${(100 * at("accuracy")).toFixed(1)} %, NLL ${at("nll").toFixed(3)} nats, ECE ${at("ece").toFixed(3)}; `
      + `largest eigenvalue λ₁ ${short(value("lambda1")[0])}.`;
  }

  function draw() {
    const now = current();
    arrange();
    drawControls(now);
    reading.textContent = sentence(now);
    for (const f of figures) {
      const sized = f.binds.some((b) => b.rows !== "all");
      const state = `${members.indexOf(now.member)}/${sized ? now.n : ""}`;
      if (f.state === state) continue;
      f.state = state;
      let drawn = { data: f.data, layout: f.layout };      // a copy: plotly writes into what it is given
      for (const bind of f.binds) drawn = assigned(drawn, bind.path.split("."), bound(bind, fields, now.member, now.n));
      for (const axis of f.shared) {
        const ends = members.flatMap((m) => m.meta.ranges[f.name][axis] ?? []);
        if (ends.length) drawn = assigned(drawn, ["layout", axis, "range"], [Math.min(...ends), Math.max(...ends)]);
      }
      f.width = f.plot.clientWidth;
      Plotly.react(f.plot, drawn.data.map((trace) => ({ ...trace })), { ...drawn.layout }, index.config);
    }
    el.dataset.state = `${now.method}/${now.member.meta.radius}/${now.n}`;
  }

  // ---------------------------------------------------------------- what the reader does
  function change(values) {
    for (const [key, value] of Object.entries(values)) model.set(key, value);
    model.save_changes();
    schedule();
  }
  let waiting = false, stopped = false;
  function schedule() {                                   // once a frame, with the newest values
    if (waiting || stopped) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (el.isConnected) draw();
      else setTimeout(schedule, 100);                     // JupyterLab attaches a view after it is made, or scrolls it away
    });
  }
  select.addEventListener("change", () => {
    remembered[model.get("method")] = model.get("radius");
    const at = stops(select.value);
    change({ method: select.value, radius: remembered[select.value] ?? at[Math.min(at.length - 1, Math.ceil(at.length / 2))] });
  });
  radius.addEventListener("input", () => change({ radius: stops(current().method)[Number(radius.value)] }));
  draws.addEventListener("input", () => change({ n_draws: Number(draws.value) }));
  const events = ["radius", "n_draws", "method"].map((t) => `change:${t}`);
  for (const e of events) model.on(e, schedule);

  schedule();
  return {
    // A member fitted since: its record replaces or joins the others.
    add(extra) {
      for (const member of unpack(extra)) {
        const at = members.findIndex((m) => m.meta.method === member.meta.method && m.meta.radius === member.meta.radius);
        if (at < 0) members.push(member); else members[at] = member;
      }
      for (const f of figures) f.state = "";               // an axis may have to hold more
      schedule();
    },
    stop() {
      stopped = true;
      watcher.disconnect();
      for (const e of events) model.off?.(e, schedule);
      figures.forEach((f) => Plotly.purge(f.plot));
    },
  };
}
