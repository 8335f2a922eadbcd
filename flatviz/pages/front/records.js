// ---- the family's arrays

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

export const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

// The bytes of float32 that come as all first bytes, all second ones and so on.
export function joined(planes) {
  const count = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; plane++) {
    for (let i = 0; i < count; i++) bytes[4 * i + plane] = planes[plane * count + i];
  }
  return bytes;
}

/** @param {Float32Array} flat @param {number[]} shape */
function nested(flat, [length, ...rest]) {
  if (!rest.length) return Array.from(flat);
  const step = flat.length / length;
  return Array.from({ length }, (_, i) => nested(flat.subarray(i * step, (i + 1) * step), rest));
}

// One array of a member, as lists, made once.
export function read(fields, member, name) {
  if (!member.read.has(name)) {
    const { offset, shape } = fields[name];
    const flat = member.data.subarray(offset, offset + shape.reduce((a, b) => a * b, 1));
    member.read.set(name, nested(flat, shape));
  }
  return member.read.get(name);
}

// What a bind puts into a figure: a member's array, whole, its first n rows or its row for n draws;
// or a word.
export function bound({ field, rows }, fields, member, n) {
  const word = member.meta.words[field];
  if (word !== undefined) return word;
  const values = read(fields, member, field);
  if (rows === "draws") return values.slice(0, n);
  if (rows === "segments") return values.slice(0, 3 * n);
  return rows === "size" ? values[Math.min(n, values.length) - 1] : values;
}

// A copy of `target` with `value` at the path; what the path does not touch is shared with
// `target`.
/** @param {any} target @param {string[]} path @param {any} value */
export function assigned(target, [key, ...rest], value) {
  const copy = Array.isArray(target) ? [...target] : { ...target };
  copy[key] = rest.length ? assigned(copy[key] ?? {}, rest, value) : value;
  return copy;
}

// Index of the value nearest to `wanted` as the slider counts: in powers of ten, 0 by itself.
export function nearest(values, wanted) {
  const place = (v) => (v > 0 ? Math.log10(v) : -Infinity);
  const far = (v) => (v === wanted ? 0 : Math.abs(place(v) - place(wanted)));
  return values.reduce((best, v, i) => (far(v) < far(values[best]) ? i : best), 0);
}
