// ---- the members of a family, and what is said of one
import { counted, short } from "./elements.js";
import { nearest, read, unpack } from "./records.js";

const fixed = (name) => (v) => `${name} ${v.toFixed(3)}`;
const WORDS = {
  accuracy: (v) => `accuracy ${(100 * v).toFixed(1)} %`,
  nll: (v) => `NLL ${v.toFixed(3)} nats`,
  ece: fixed("ECE"),
  rmse: (v) => `RMSE ${short(v)}`,
};
const SHORT = { ...WORDS, accuracy: (v) => `${(100 * v).toFixed(1)} % right`, nll: fixed("NLL") };

export class Members {
  live;
  list;
  index;
  fields;

  // live: whether a kernel can fit what is not there.
  constructor(bundle, live) {
    this.index = bundle.index;
    this.fields = bundle.index.fields;
    this.live = live;
    this.list = unpack(bundle);
  }

  get methods() {
    return [...new Set(this.list.map((m) => m.meta.method))];
  }

  of(method) {
    return this.list.filter((m) => m.meta.method === method);
  }

  fitted(method) {
    return this.of(method)
      .filter((m) => !m.meta.note)
      .map((m) => m.meta.radius)
      .sort((x, y) => x - y);
  }

  stops(method) {
    // where the radius slider stops, 0 first
    const offered = this.live ? (this.index.stops[method] ?? []) : [];
    return [...new Set([...this.of(method).map((m) => m.meta.radius), ...offered])].sort(
      (a, b) => a - b,
    );
  }

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

  // For each method what its menu and its radius slider offer.
  get offered() {
    return this.methods.map((m) => {
      const { label, unit } = this.of(m)[0].meta;
      return [m, label, this.stops(m), unit, this.index.defaults[m]];
    });
  }

  // Members fitted since: their records replace or join the others.
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

  // Ranges of the axes that hold every member.
  ranges(entry) {
    const held = {};
    for (const axis of entry.shared) {
      const ends = this.list.flatMap((m) => m.meta.ranges[entry.name]?.[axis] ?? []);
      if (ends.length) held[axis] = [Math.min(...ends), Math.max(...ends)];
    }
    return held;
  }

  // Those that the family has.
  scores(at, words = WORDS) {
    return Object.entries(words)
      .filter(([name]) => name in this.fields)
      .map(([name, say]) => say(at(name)));
  }

  sentence({ method, member, wanted }, n) {
    const value = (name) => read(this.fields, member, name);
    const at = (name) => value(name)[n - 1];
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

  numbers({ member }, n) {
    // the same in one line of a phone
    const at = (name) => read(this.fields, member, name)[n - 1];
    const [lambda1] = read(this.fields, member, "lambda1");
    return Number.isFinite(at("nll"))
      ? `${this.scores(at, SHORT).join(", ")}, λ₁ ${short(lambda1)}`
      : "diverged";
  }

  aboutDraw({ member }, d) {
    const loss = read(this.fields, member, "draw loss")[d];
    const off = read(this.fields, member, "draw distance")[d];
    return Number.isFinite(loss)
      ? ` Draw ${d + 1}: training loss ${short(loss)}, ${short(off)} off the plane.`
      : "";
  }
}
