// ---- where the controls stand

/** @import { Controls, Index, Look, Model, Stand } from "./types.d.ts" */

export const ALL = "All";
/** @type {Look} */
const LOOK = { tab: "", compare: null, picked: null, chosen: {}, step: -1 };

/**
 * Where the controls stand, as one plain object over a model with the traits method, radius,
 * n_draws and look; undo, and the hash of an address.
 */
export class State {
  /** @type {Controls[]} */
  past = [];
  last = ""; // what the reader moved last, and when
  when = 0;

  /**
   * @param {Model} model
   * @param {Pick<Index, "n_max" | "members">} index
   * @param {() => void} changed something stands elsewhere
   * @param {(values: Partial<Controls>) => void} acted the reader moved it there
   */
  constructor(model, { n_max: most, members }, changed, acted) {
    this.model = model;
    this.most = most;
    this.methods = members.map((m) => m.method);
    this.changed = changed;
    this.acted = acted;
    this.start = this.all;
  }

  /** Where the controls stand now. @returns {Controls} */
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

  /**
   * Take what the reader does: a drag of one control is one step of undo.
   * @param {Partial<Controls>} values
   */
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

  /**
   * Stand there; a look that is not given is that of the start.
   * @param {Stand & Partial<Look>} now
   */
  put({ method, radius, n_draws, ...given }) {
    const { tab, compare, picked, chosen, step } = { ...LOOK, ...given };
    const { model } = this;
    model.set("method", method);
    model.set("radius", radius);
    model.set("n_draws", n_draws);
    model.set("look", { tab, compare, picked, chosen, step });
    model.save_changes();
    this.changed();
  }

  /** Take the last change back. */
  undo() {
    this.last = "";
    this.acted(this.start);
    // the article stands where it is scrolled to
    const before = this.past.pop();
    if (before) this.put({ ...before, step: this.all.step });
  }

  /** Back to the start, where the article does not move. */
  reset() {
    this.change({ ...this.start, step: this.all.step });
    this.last = "";
  }

  /** What `read` takes. */
  get hash() {
    const { method, radius, n_draws, tab, compare, picked, chosen, step } = this.all;
    const said = new URLSearchParams({ method, radius: `${radius}`, draws: `${n_draws}` });
    if (tab) said.set("tab", tab);
    if (compare) said.set("b", `${compare.radius}:${compare.method}`);
    if (picked !== null) said.set("draw", `${picked + 1}`);
    if (step !== this.start.step) said.set("step", `${step + 1}`);
    for (const [slot, option] of Object.entries(chosen)) said.set(`see.${slot}`, option);
    return `#${said}`;
  }

  /**
   * Take what a hash says, as far as it can be read; what it does not say is as at the start.
   * @param {string} hash
   */
  read(hash) {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    /** @type {Partial<Controls>} */
    const got = {};
    const take = (
      /** @type {string} */ key,
      /** @type {number} */ least,
      /** @type {(value: number) => void} */ act,
    ) => {
      const value = said.has(key) ? Number(said.get(key)) : NaN;
      if (value >= least && Number.isFinite(value)) act(value);
    };
    const known = said.get("method") ?? "";
    if (this.methods.includes(known)) got.method = known;
    take("radius", 0, (v) => (got.radius = v));
    take("draws", 1, (v) => (got.n_draws = Math.round(v)));
    const tab = said.get("tab");
    if (tab !== null) got.tab = tab;
    take("draw", 1, (v) => (got.picked = Math.round(v) - 1));
    take("step", 0, (v) => (got.step = Math.round(v) - 1));
    const [, radius, method] = said.get("b")?.match(/^([\d.e+-]+):(.*)$/s) ?? [];
    if (method !== undefined && Number.isFinite(Number(radius)))
      got.compare = { method, radius: Number(radius) };
    const chosen = [...said]
      .filter(([key]) => key.startsWith("see."))
      .map(([key, option]) => [key.slice(4), option]);
    if (chosen.length) got.chosen = Object.fromEntries(chosen);
    this.last = ""; // what the reader does next is a step of undo of its own
    if (Object.keys(got).length) this.put({ ...this.start, ...got });
  }
}
