// ---- the members of a family, and what is said of one
import { counted, short } from "./elements.js";
import { nearest, numbersOf, unpack } from "./records.js";

/** @import { Bundle, Entry, Extra, Offer, Ranges, Standing } from "./types.d.ts" */

/** @typedef {Record<string, (v: number) => string>} Words Scores as words, by name */

/** A score with three decimals after its name. @param {string} name */
const fixed = (name) => (/** @type {number} */ v) => `${name} ${v.toFixed(3)}`;
/** @type {Words} */
const WORDS = {
  accuracy: (v) => `accuracy ${(100 * v).toFixed(1)} %`,
  nll: (v) => `NLL ${v.toFixed(3)} nats`,
  ece: fixed("ECE"),
  rmse: (v) => `RMSE ${short(v)}`,
};
/** @type {Words} */
const SHORT = {
  ...WORDS,
  accuracy: (v) => `${(100 * v).toFixed(1)} % right`,
  nll: fixed("NLL"),
};

/** The members of a family, and what is said of one. */
export class Members {
  /**
   * @param {Bundle} bundle
   * @param {boolean} live whether a kernel can fit what is not there
   */
  constructor(bundle, live) {
    this.index = bundle.index;
    this.fields = bundle.index.fields;
    this.live = live;
    this.list = unpack(bundle);
  }

  /** Methods of the members. */
  get methods() {
    return [...new Set(this.list.map((m) => m.meta.method))];
  }

  /** The members of a method. @param {string} method */
  of(method) {
    return this.list.filter((m) => m.meta.method === method);
  }

  /** The radii of a method that are fitted, smallest first. @param {string} method */
  fitted(method) {
    return this.of(method)
      .filter((m) => !m.meta.note)
      .map((m) => m.meta.radius)
      .sort((x, y) => x - y);
  }

  /** Where the radius slider of a method stops, smallest first. @param {string} method */
  stops(method) {
    // where the radius slider stops, 0 first
    const offered = this.live ? (this.index.stops[method] ?? []) : [];
    return [...new Set([...this.of(method).map((m) => m.meta.radius), ...offered])].sort(
      (a, b) => a - b,
    );
  }

  /**
   * The member shown at these controls.
   * @param {string} method
   * @param {number} wanted
   * @returns {Standing}
   */
  standing(method, wanted) {
    // the member shown at these controls
    const known = this.methods.includes(method) ? method : this.methods[0];
    const all = this.of(known);
    return {
      method: known,
      wanted,
      member:
        all[
          nearest(
            all.map((m) => m.meta.radius),
            wanted,
          )
        ],
    };
  }

  /** For each method what its menu and its radius slider offer. @returns {Offer[]} */
  get offered() {
    return this.methods.map((method) => {
      const { label, unit } = this.of(method)[0].meta;
      return { method, label, stops: this.stops(method), unit, first: this.index.defaults[method] };
    });
  }

  /** Let members fitted since replace or join the others. @param {Extra} extra */
  add(extra) {
    for (const member of unpack(extra)) {
      const at = this.list.findIndex(
        (m) => m.meta.method === member.meta.method && m.meta.radius === member.meta.radius,
      );
      if (at >= 0) member.version = (this.list[at].version ?? 0) + 1;
      if (at < 0) this.list.push(member);
      else this.list[at] = member;
    }
  }

  /**
   * Ranges of the axes that hold every member.
   * @param {Pick<Entry, "name" | "shared">} entry
   * @returns {Ranges}
   */
  ranges(entry) {
    /** @type {Ranges} */
    const held = {};
    for (const axis of entry.shared) {
      const ends = this.list.flatMap((m) => m.meta.ranges[entry.name]?.[axis] ?? []);
      if (ends.length) held[axis] = [Math.min(...ends), Math.max(...ends)];
    }
    return held;
  }

  /** The scores that the family has, as words. @param {(name: string) => number} at */
  scores(at, words = WORDS) {
    return Object.entries(words)
      .filter(([name]) => name in this.fields)
      .map(([name, say]) => say(at(name)));
  }

  /**
   * What is said of a member at this ensemble size.
   * @param {Standing} standing
   * @param {number} n
   */
  sentence({ method, member, wanted }, n) {
    const value = (/** @type {string} */ name) => numbersOf(this.fields, member, name);
    const at = (/** @type {string} */ name) => value(name)[n - 1];
    const r = member.meta.radius;
    const missing =
      Math.abs(r - wanted) > 1e-6 * Math.max(1, wanted) && this.of(method).length > 1
        ? `radius ${short(wanted)} is not fitted; shown: `
        : "";
    const at_radius =
      r > 0
        ? `, radius ${short(r)}${member.meta.reach ?? ""}`
        : member.meta.equals
          ? `, radius 0, which is ${member.meta.equals}`
          : "";
    return (
      `${missing}${member.meta.label}${at_radius}${member.meta.note ?? ""}, ${counted(Math.min(n, member.meta.n_draws), "draw")}: ` +
      (Number.isFinite(at("nll"))
        ? `${this.scores(at).join(", ")}; `
        : "diverged, no score is a number; ") +
      (Number.isFinite(value("lambda1")[0])
        ? `largest eigenvalue λ₁ ${short(value("lambda1")[0])}.`
        : "no largest eigenvalue λ₁ was found.")
    );
  }

  /**
   * The same in one line of a phone.
   * @param {Pick<Standing, "member">} standing
   * @param {number} n
   */
  numbers({ member }, n) {
    // the same in one line of a phone
    const at = (/** @type {string} */ name) => numbersOf(this.fields, member, name)[n - 1];
    const [lambda1] = numbersOf(this.fields, member, "lambda1");
    return Number.isFinite(at("nll"))
      ? `${this.scores(at, SHORT).join(", ")}, λ₁ ${short(lambda1)}`
      : "diverged";
  }

  /**
   * What is said of a draw.
   * @param {Pick<Standing, "member">} standing
   * @param {number} d
   */
  aboutDraw({ member }, d) {
    const loss = numbersOf(this.fields, member, "draw loss")[d];
    const off = numbersOf(this.fields, member, "draw distance")[d];
    return Number.isFinite(loss)
      ? ` Draw ${d + 1}: training loss ${short(loss)}, ${short(off)} off the plane.`
      : "";
  }
}
