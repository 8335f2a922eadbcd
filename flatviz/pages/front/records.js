// ---- the family's arrays

/** @import { Bind, Bundle, Extra, Fields, Member, Nested, Value } from "./types.d.ts" */

/**
 * The members of a bundle, each with its record.
 * @param {Bundle | Extra} bundle
 * @returns {Member[]}
 */
export function unpack(bundle) {
  const { index } = bundle;
  const bytes =
    bundle.buffer instanceof ArrayBuffer
      ? bundle.buffer
      : bundle.buffer.buffer.slice(
          bundle.buffer.byteOffset,
          bundle.buffer.byteOffset + bundle.buffer.byteLength,
        );
  const size = index.record;
  return index.members.map((meta, m) => ({
    meta,
    data: new Float32Array(bytes, m * size * 4, size),
    read: new Map(),
  }));
}

/** The bytes that a text holds in base 64. @param {string} text */
export const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/**
 * The bytes of float32 that come as all first bytes, all second ones and so on.
 * @param {Uint8Array} planes
 */
export function joined(planes) {
  const count = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; plane++) {
    for (let i = 0; i < count; i++) bytes[4 * i + plane] = planes[plane * count + i];
  }
  return bytes;
}

/**
 * Numbers as lists in lists of this shape.
 * @param {Float32Array} flat
 * @param {number[]} shape
 * @returns {Nested[]}
 */
function nested(flat, [length, ...rest]) {
  if (!rest.length) return Array.from(flat);
  const step = flat.length / length;
  return Array.from({ length }, (_, i) => nested(flat.subarray(i * step, (i + 1) * step), rest));
}

/**
 * One array of a member, as lists, made once.
 * @param {Fields} fields
 * @param {Member} member
 * @param {string} name
 * @returns {Nested[]}
 */
export function read(fields, member, name) {
  const known = member.read.get(name);
  if (known) return known;
  const { offset, shape } = fields[name];
  const flat = member.data.subarray(offset, offset + shape.reduce((a, b) => a * b, 1));
  const made = nested(flat, shape);
  member.read.set(name, made);
  return made;
}

/**
 * One array of a member that is a list of numbers.
 * @param {Fields} fields
 * @param {Member} member
 * @param {string} name
 */
export const numbersOf = (fields, member, name) =>
  /** @type {number[]} */ (read(fields, member, name));

/**
 * What a bind puts into a figure: a member's array, whole, its first n rows or its row for n draws;
 * or a word.
 * @param {Bind} bind
 * @param {Fields} fields
 * @param {Member} member
 * @param {number} n
 * @returns {Value}
 */
export function bound({ field, rows }, fields, member, n) {
  const word = member.meta.words[field];
  if (word !== undefined) return word;
  const values = read(fields, member, field);
  if (rows === "draws") return values.slice(0, n);
  if (rows === "segments") return values.slice(0, 3 * n);
  return rows === "size" ? values[Math.min(n, values.length) - 1] : values;
}

/**
 * A copy of `target` with `value` at the path; what the path does not touch is shared with
 * `target`.
 * @template T
 * @param {T} target
 * @param {string[]} path
 * @param {Value} value
 * @returns {T}
 */
export function assigned(target, [key, ...rest], value) {
  const copy = /** @type {Record<string, Value | object>} */ (
    Array.isArray(target) ? [...target] : { ...target }
  );
  copy[key] = rest.length ? assigned(copy[key] ?? {}, rest, value) : value;
  return /** @type {T} */ (copy);
}

/**
 * Index of the value nearest to `wanted` as the slider counts: in powers of ten, 0 by itself.
 * @param {number[]} values
 * @param {number} wanted
 */
export function nearest(values, wanted) {
  /** @param {number} v */
  const place = (v) => (v > 0 ? Math.log10(v) : -Infinity);
  /** @param {number} v */
  const far = (v) => (v === wanted ? 0 : Math.abs(place(v) - place(wanted)));
  return values.reduce((best, v, i) => (far(v) < far(values[best]) ? i : best), 0);
}
