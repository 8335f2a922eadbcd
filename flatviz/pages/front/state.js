// ---- where the controls stand

export const ALL = "All";
const LOOK = { tab: "", compare: null, picked: null, chosen: {}, step: -1 };

// The state as one plain object, over a model with the traits method, radius, n_draws and look;
// undo, and a URL's hash.
export class State {
  past;
  model;
  most;
  when;
  acted;
  changed;
  methods;

  // changed(): something stands elsewhere; acted(values): the reader moved it there.
  constructor(model, { n_max: most, members }, changed, acted) {
    this.model = model;
    this.most = most;
    this.methods = members.map((m) => m.method);
    this.changed = changed;
    this.acted = acted;
    this.past = [];
    this.last = "";
    this.when = 0;
    this.start = this.all;
  }

  get all() {
    const { model } = this;
    const n_draws = Math.max(1, Math.min(this.most, model.get("n_draws")));
    return {
      method: model.get("method"),
      radius: model.get("radius"),
      n_draws,
      ...LOOK,
      ...(model.get("look") ?? {}),
    };
  }

  // What the reader does: a drag of one control is one step of undo.
  change(values) {
    const kind = Object.keys(values).join();
    const now = Date.now();
    if (kind !== this.last || now - this.when > 700) this.past.push(this.all);
    if (this.past.length > 100) this.past.shift();
    this.last = kind;
    this.when = now;
    this.acted(values);
    this.put({ ...this.all, ...values });
  }

  put({ method, radius, n_draws, ...look }) {
    const known = Object.fromEntries(Object.keys(LOOK).map((key) => [key, look[key] ?? LOOK[key]]));
    for (const [key, value] of Object.entries({ method, radius, n_draws, look: known }))
      this.model.set(key, value);
    this.model.save_changes();
    this.changed();
  }

  undo() {
    this.last = "";
    this.acted(this.start);
    // the article stands where it is scrolled to
    if (this.past.length) this.put({ ...this.past.pop(), step: this.all.step });
  }

  reset() {
    this.change({ ...this.start, step: this.all.step });
    this.last = "";
  }

  get hash() {
    const { method, radius, n_draws, tab, compare, picked, chosen, step } = this.all;
    const said = new URLSearchParams({ method, radius, draws: n_draws });
    if (tab) said.set("tab", tab);
    if (compare) said.set("b", `${compare.radius}:${compare.method}`);
    if (picked !== null) said.set("draw", picked + 1);
    if (step !== this.start.step) said.set("step", step + 1);
    for (const [slot, option] of Object.entries(chosen)) said.set(`see.${slot}`, option);
    return `#${said}`;
  }

  // Take what a hash says, as far as it can be read; what it does not say is as at the start.
  read(hash) {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    const got = {};
    const number = (key, least) => {
      const v = said.has(key) ? Number(said.get(key)) : NaN;
      return /** @type {any} */ (v >= least && Number.isFinite(v) ? v : null);
    };
    if (this.methods.includes(said.get("method"))) got.method = said.get("method");
    if (number("radius", 0) !== null) got.radius = number("radius", 0);
    if (number("draws", 1) !== null) got.n_draws = Math.round(number("draws", 1));
    if (said.has("tab")) got.tab = said.get("tab");
    if (number("draw", 1) !== null) got.picked = Math.round(number("draw", 1)) - 1;
    if (number("step", 0) !== null) got.step = Math.round(number("step", 1)) - 1;
    const [, radius, method] = said.get("b")?.match(/^([\d.e+-]+):(.*)$/s) ?? [];
    if (method !== undefined && Number.isFinite(Number(radius)))
      got.compare = { method, radius: Number(radius) };
    const chosen = [...said]
      .filter(([key]) => key.startsWith("see."))
      .map(([key, option]) => [key.slice(4), option]);
    if (chosen.length) got.chosen = Object.fromEntries(chosen);
    if (Object.keys(got).length) this.put({ ...this.start, ...got });
  }
}
