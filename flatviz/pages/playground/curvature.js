// Curvature of a loss; of two weights also integrals over q.
import { Random, dot, norm, plus, zeros } from "./random.js";

/** @import { Eigenpair, Gaussian, Loss, Vector } from "./types.d.ts" */

/**
 * The Hessian at w times v, by a difference of fourth order of gradients.
 * @param {Loss} loss
 * @param {Vector} w
 * @param {Vector} v
 */
function hessianTimes(loss, w, v) {
  const h = 1e-3 / Math.max(norm(v), 1e-300);
  const at = (/** @type {number} */ t) => {
    const g = zeros(w.length);
    loss.both(plus(w, v, t * h), g);
    return g;
  };
  const [a, b, c, d] = [at(1), at(-1), at(2), at(-2)];
  return a.map((_, i) => (8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h));
}

/**
 * The k largest eigenpairs of the Hessian at w, by Lanczos with full reorthogonalisation. `near`:
 * eigenpairs of a place nearby, whose vectors save most of the iterations.
 * @param {Loss} loss
 * @param {Vector} w
 * @param {number} k
 * @param {number} iters
 * @param {Eigenpair[] | null} near
 */
export function topEigenpairs(loss, w, k, iters = 40, near = null) {
  const D = w.length;
  const m = Math.min(D, iters);
  /** @type {Vector[]} */ const basis = [];
  /** @type {number[]} */ const diagonal = [];
  /** @type {number[]} */ const off = [];
  let v = new Random(0).normals(D);
  for (const { vector } of near ?? []) v = plus(v, vector, 10 * Math.sqrt(D));
  v = v.map((x) => x / norm(v));
  for (let j = 0; j < m; j++) {
    basis.push(v);
    let r = hessianTimes(loss, w, v);
    diagonal.push(dot(v, r));
    for (let twice = 0; twice < 2; twice++) for (const b of basis) r = plus(r, b, -dot(b, r));
    const length = norm(r);
    if (j === m - 1 || length < 1e-9) break;
    off.push(length);
    v = r.map((x) => x / length);
  }
  const n = basis.length;
  const T = Array.from({ length: n }, (_, i) =>
    Float64Array.from({ length: n }, (_, j) =>
      i === j ? diagonal[i] : Math.abs(i - j) === 1 ? off[Math.min(i, j)] : 0,
    ),
  );
  return symmetricEigen(T)
    .slice(0, k)
    .map(({ value, vector }) => {
      const full = zeros(D);
      basis.forEach((b, j) => {
        for (let i = 0; i < D; i++) full[i] += vector[j] * b[i];
      });
      return { value, vector: full };
    });
}

/**
 * Eigenpairs of a small symmetric matrix, largest first, by Jacobi's rotations.
 * @param {Vector[]} A
 */
function symmetricEigen(A) {
  const n = A.length;
  const V = A.map((_, i) => Float64Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 40; sweep++) {
    let rest = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        rest += A[p][q] ** 2;
        if (Math.abs(A[p][q]) < 1e-300) continue;
        const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        for (let i = 0; i < n; i++) {
          const x = A[i][p];
          const y = A[i][q];
          A[i][p] = c * x - s * y;
          A[i][q] = s * x + c * y;
        }
        for (let i = 0; i < n; i++) {
          const x = A[p][i];
          const y = A[q][i];
          A[p][i] = c * x - s * y;
          A[q][i] = s * x + c * y;
        }
        for (let i = 0; i < n; i++) {
          const x = V[i][p];
          const y = V[i][q];
          V[i][p] = c * x - s * y;
          V[i][q] = s * x + c * y;
        }
      }
    if (rest < 1e-24) break;
  }
  return A.map((row, j) => ({ value: row[j], vector: V.map((r) => r[j]) })).sort(
    (a, b) => b.value - a.value,
  );
}

/** @type {number[][]} */
const NODES = []; // the trapezoid rule on a standard normal: exact to rounding for smooth L
for (let a = -4.5; a <= 4.5; a += 0.5)
  for (let b = -4.5; b <= 4.5; b += 0.5) NODES.push([a, b, Math.exp(-0.5 * (a * a + b * b))]);
const MASS = NODES.reduce((s, node) => s + node[2], 0);

/**
 * E_q[L] over the whole of q.
 * @param {Loss} loss
 * @param {Gaussian} q
 */
export function integral(loss, q) {
  const [s, t] = q.logStd.map(Math.exp);
  const w = zeros(2);
  let sum = 0;
  for (const [a, b, weight] of NODES) {
    w[0] = q.mean[0] + s * a;
    w[1] = q.mean[1] + t * b;
    sum += weight * loss.both(w, null);
  }
  return sum / MASS;
}

/**
 * The largest loss within this distance of w, over rings of a disc.
 * @param {Loss} loss
 * @param {Vector} w
 * @param {number} radius
 */
export function worstWithin(loss, w, radius) {
  let most = loss.both(w, null);
  for (let ring = 1; ring <= 4; ring++)
    for (let i = 0; i < 32; i++) {
      const r = (radius * ring) / 4;
      const angle = (2 * Math.PI * i) / 32;
      most = Math.max(
        most,
        loss.both([w[0] + r * Math.cos(angle), w[1] + r * Math.sin(angle)], null),
      );
    }
  return most;
}
