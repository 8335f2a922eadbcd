// The small engine of the playground: random numbers, grounds of two weights, a network with its
// gradient, the updates of
// flatviz's methods, curvature and scores.  It draws nothing and knows no page; tests compare it
// with flatviz.
//
// A loss is { dim, both(w, g) }: the mean loss at w, its gradient written to g (a Float64Array, or
// null for the value alone).
// q is { mean, logStd }, a Gaussian with a width for each weight; prior is another.  T is the
// temperature kl_weight / N:
// all methods have the target exp(-L(w) / T) prior(w).

// ------------------------------------------------------------------ random numbers

export class Random {
  // mulberry32, and Box-Muller on it
  constructor(seed) {
    this.state = (seed * 2654435761 + 12345) >>> 0;
    this.spare = null;
    for (let i = 0; i < 4; i++) this.uniform();
  }

  uniform() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  normal() {
    if (this.spare !== null) {
      const z = this.spare;
      this.spare = null;
      return z;
    }
    const r = Math.sqrt(-2 * Math.log(1 - this.uniform())),
      angle = 2 * Math.PI * this.uniform();
    this.spare = r * Math.sin(angle);
    return r * Math.cos(angle);
  }

  normals(n) {
    return Float64Array.from({ length: n }, () => this.normal());
  }
}

// ------------------------------------------------------------------ vectors

export const dot = (a, b) => {
  let s = 0;
  for (let i = 0; i < a.length; i++) s += a[i] * b[i];
  return s;
};
export const norm = (a) => Math.sqrt(dot(a, a));
export const plus = (a, b, scale = 1) => a.map((x, i) => x + scale * b[i]);
export const zeros = (n) => new Float64Array(n);
const TINY = 1e-12;

// ------------------------------------------------------------------ grounds of two weights

// Terms add up: bowl h/2 |w - c|^2; dent -depth exp(-((w1-c1)^2/s1^2 + (w2-c2)^2/s2^2) / 2), s one
// number or two;
// valley k/2 (w2 - a w1^2 - b)^2; wall, a smooth step of this height across w1 = at; modes, minus
// the log of two equal Gaussians.
const TERMS = {
  bowl: ({ at: [a, b], h }, x, y, g) => {
    g[0] += h * (x - a);
    g[1] += h * (y - b);
    return 0.5 * h * ((x - a) ** 2 + (y - b) ** 2);
  },
  dent: ({ at: [a, b], depth, width }, x, y, g) => {
    const [s, t] = Array.isArray(width) ? width : [width, width];
    const e = depth * Math.exp(-0.5 * (((x - a) / s) ** 2 + ((y - b) / t) ** 2));
    g[0] += (e * (x - a)) / (s * s);
    g[1] += (e * (y - b)) / (t * t);
    return -e;
  },
  valley: ({ k, a, b }, x, y, g) => {
    const r = y - a * x * x - b;
    g[0] -= 2 * k * r * a * x;
    g[1] += k * r;
    return 0.5 * k * r * r;
  },
  wall: ({ at, height, soft }, x, y, g) => {
    const t = Math.tanh((x - at) / soft);
    g[0] += (height * (1 - t * t)) / (2 * soft);
    return 0.5 * height * (1 + t);
  },
  modes: ({ a, b, narrow, ratio }, x, y, g) => {
    const wide = narrow * ratio,
      p = ((x - a[0]) ** 2 + (y - a[1]) ** 2) / (2 * narrow ** 2);
    const r = ((x - b[0]) ** 2 + (y - b[1]) ** 2) / (2 * wide ** 2),
      least = Math.min(p, r);
    const u = Math.exp(least - p),
      v = Math.exp(least - r),
      share = u / (u + v);
    g[0] += (share * (x - a[0])) / narrow ** 2 + ((1 - share) * (x - b[0])) / wide ** 2;
    g[1] += (share * (y - a[1])) / narrow ** 2 + ((1 - share) * (y - b[1])) / wide ** 2;
    return least - Math.log(u + v) + Math.log(2);
  },
};

const UNUSED = zeros(2);

export function groundLoss(terms) {
  return {
    dim: 2,
    both(w, g) {
      const into = g ?? UNUSED;
      into[0] = into[1] = 0;
      let value = 0;
      for (const term of terms) value += TERMS[term.kind](term, w[0], w[1], into);
      return value;
    },
  };
}

// The loss of a test ground: that of training moved by this much, and bent, w2 higher by bend (w1^2
// - 1).
export function elsewhere(loss, [a, b], bend) {
  const at = zeros(2);
  return {
    dim: 2,
    both(w, g) {
      at[0] = w[0] - a;
      at[1] = w[1] - b - bend * (w[0] * w[0] - 1);
      const value = loss.both(at, g);
      if (g) g[0] -= 2 * bend * w[0] * g[1];
      return value;
    },
  };
}

// ------------------------------------------------------------------ a network of tanh layers

// widths [in, hidden ..., out]; weights flat as in torch: each layer's matrix (out, in) row by row,
// then its bias.
export class Network {
  constructor(widths) {
    this.widths = widths;
    this.starts = [];
    this.dim = 0;
    for (let i = 1; i < widths.length; i++) {
      this.starts.push(this.dim);
      this.dim += widths[i] * (widths[i - 1] + 1);
    }
    this.a = widths.map((n) => zeros(n));
    this.d = widths.map((n) => zeros(n));
  }

  init(random, gain = 1) {
    // N(0, gain^2 / fan in), biases too
    const w = zeros(this.dim);
    this.starts.forEach((start, l) => {
      const n = this.widths[l + 1] * (this.widths[l] + 1);
      for (let i = 0; i < n; i++)
        w[start + i] = (gain * random.normal()) / Math.sqrt(this.widths[l]);
    });
    return w;
  }

  forward(w, x, at) {
    // of the input that begins at x[at]; the outputs are this.a.at(-1)
    const { a, widths, starts } = this,
      last = widths.length - 1;
    for (let j = 0; j < widths[0]; j++) a[0][j] = x[at + j];
    for (let l = 0; l < last; l++) {
      const from = a[l],
        to = a[l + 1],
        n = widths[l],
        m = widths[l + 1],
        bias = starts[l] + n * m;
      for (let i = 0, p = starts[l]; i < m; i++) {
        let s = w[bias + i];
        for (let j = 0; j < n; j++) s += w[p++] * from[j];
        to[i] = l + 1 < last ? Math.tanh(s) : s;
      }
    }
    return a[last];
  }

  backward(w, g) {
    // adds to g, from d.at(-1), what forward has left
    const { a, d, widths, starts } = this;
    for (let l = widths.length - 2; l >= 0; l--) {
      const from = a[l],
        delta = d[l + 1],
        below = d[l],
        n = widths[l],
        m = widths[l + 1],
        bias = starts[l] + n * m;
      below.fill(0);
      for (let i = 0, p = starts[l]; i < m; i++) {
        const e = delta[i];
        g[bias + i] += e;
        for (let j = 0; j < n; j++, p++) {
          g[p] += e * from[j];
          below[j] += e * w[p];
        }
      }
      if (l > 0) for (let j = 0; j < n; j++) below[j] *= 1 - from[j] * from[j];
    }
  }
}

const HALF_LOG_2PI = 0.5 * Math.log(2 * Math.PI);

// data { x (N in), y (N), noise }: classes, or with a noise the targets of a regression with one
// output.
export function networkLoss(network, { x, y, noise }) {
  const n = y.length,
    wide = network.widths[0],
    classes = network.widths.at(-1),
    delta = network.d.at(-1);
  return {
    dim: network.dim,
    both(w, g) {
      if (g) g.fill(0);
      let value = 0;
      for (let i = 0; i < n; i++) {
        const out = network.forward(w, x, i * wide);
        if (noise) {
          const r = (out[0] - y[i]) / noise;
          value += 0.5 * r * r + Math.log(noise) + HALF_LOG_2PI;
          delta[0] = r / noise / n;
        } else {
          let most = -Infinity,
            sum = 0;
          for (let c = 0; c < classes; c++) most = Math.max(most, out[c]);
          for (let c = 0; c < classes; c++) {
            delta[c] = Math.exp(out[c] - most);
            sum += delta[c];
          }
          value += most + Math.log(sum) - out[y[i]];
          for (let c = 0; c < classes; c++) delta[c] = (delta[c] / sum - (c === y[i] ? 1 : 0)) / n;
        }
        if (g) network.backward(w, g);
      }
      return value / n;
    },
  };
}

// ------------------------------------------------------------------ q: draws, expected loss, KL, the worst q near it

export const draw = (q, z) => q.mean.map((m, i) => m + Math.exp(q.logStd[i]) * z[i]);
export const copyOf = (q) => ({ mean: q.mean.slice(), logStd: q.logStd.slice() });

// E_q[L] and its gradient in (mean, log std), over the draws of this noise:  g,  g std z.
export function expected(loss, q, noise) {
  const total = { value: 0, mean: zeros(loss.dim), logStd: zeros(loss.dim) },
    g = zeros(loss.dim);
  for (const z of noise) {
    total.value += loss.both(draw(q, z), g) / noise.length;
    for (let i = 0; i < g.length; i++) {
      total.mean[i] += g[i] / noise.length;
      total.logStd[i] += (g[i] * Math.exp(q.logStd[i]) * z[i]) / noise.length;
    }
  }
  return total;
}

// KL(q || prior) in nats, and its gradient in (mean, log std).
export function kl(q, prior) {
  const into = { value: 0, mean: zeros(q.mean.length), logStd: zeros(q.mean.length) };
  for (let i = 0; i < q.mean.length; i++) {
    const precision = Math.exp(-2 * prior.logStd[i]),
      r = q.mean[i] - prior.mean[i];
    const ratio = Math.exp(2 * q.logStd[i]) * precision;
    into.value += 0.5 * (ratio + r * r * precision - 1) + prior.logStd[i] - q.logStd[i];
    into.mean[i] = precision * r;
    into.logStd[i] = ratio - 1;
  }
  return into;
}

// Delta = radius F^-1 g / sqrt(g . F^-1 g) with F the Fisher matrix of q: 1 / std^2 for a mean, 2
// for a log std.
// share: how much of radius^2 goes into the means; q' is q + Delta.
export function worst(q, g, radius) {
  const mean = g.mean.map((x, i) => Math.exp(2 * q.logStd[i]) * x),
    logStd = g.logStd.map((x) => x / 2);
  const means = dot(g.mean, mean),
    square = Math.max(means + dot(g.logStd, logStd), 1e-300),
    scale = radius / Math.sqrt(square);
  const delta = { mean: mean.map((x) => scale * x), logStd: logStd.map((x) => scale * x) };
  return {
    delta,
    share: means / square,
    there: { mean: plus(q.mean, delta.mean), logStd: plus(q.logStd, delta.logStd) },
  };
}

export const sam = (g, radius) => {
  const scale = radius / (norm(g) + TINY);
  return g.map((x) => x * scale);
};

// ------------------------------------------------------------------ the updates

const WIDTHS = 0.2,
  MEMORY = 0.9;
export const atRest = (dim) => ({ mean: zeros(dim), squares: zeros(dim + 1), filled: 0 });

// A natural-gradient step in nats:  G = g / T + P (w - prior mean) - A (w - mean),  r = G std z,
// averaged over the draws.
// v <- momentum v + std^2 G / (1 + s),  mean <- mean - rate v,  log std <- log std - rate WIDTHS /
// 2 r / (1 + s_i);
// s and s_i are the running sizes of std G and of r.
export function descend(q, velocity, g, prior, noise, { rate, momentum, T }) {
  const pull = kl(q, prior),
    D = q.mean.length,
    G = zeros(D),
    r = zeros(D),
    unit = T || 1,
    std = q.logStd.map(Math.exp);
  for (let i = 0; i < D; i++) {
    const P = Math.exp(-2 * prior.logStd[i]),
      A = 1 / (std[i] * std[i]);
    G[i] = g.mean[i] / unit;
    r[i] = g.logStd[i] / unit;
    if (T)
      for (const z of noise) {
        const x = P * (q.mean[i] - prior.mean[i]) + (P - A) * std[i] * z[i];
        G[i] += x / noise.length;
        r[i] += (x * std[i] * z[i]) / noise.length;
      }
  }
  velocity.filled = MEMORY * velocity.filled + 1 - MEMORY;
  const slow = velocity.squares.map((square, i) => {
    const now = i ? r[i - 1] * r[i - 1] : G.reduce((sum, x, j) => sum + x * x * std[j] * std[j], 0);
    velocity.squares[i] = MEMORY * square + (1 - MEMORY) * now;
    return 1 / (1 + Math.sqrt(velocity.squares[i] / velocity.filled));
  });
  for (let i = 0; i < D; i++) {
    velocity.mean[i] = momentum * velocity.mean[i] + slow[0] * std[i] * std[i] * G[i];
    q.mean[i] -= rate * velocity.mean[i];
    q.logStd[i] -= 0.5 * WIDTHS * rate * slow[i + 1] * r[i];
  }
  return pull;
}

export function viStep(loss, q, velocity, prior, noise, settings) {
  const g = expected(loss, q, noise);
  return { from: copyOf(q), g, pull: descend(q, velocity, g, prior, noise, settings) };
}

// ascend to q', take the gradient there with the same noise, step back and descend.
export function sabmaStep(loss, q, velocity, prior, noise, settings) {
  if (settings.radius === 0) return viStep(loss, q, velocity, prior, noise, settings);
  const from = copyOf(q),
    g = expected(loss, q, noise),
    ascent = worst(q, g, settings.radius);
  const there = expected(loss, ascent.there, noise);
  return {
    from,
    g,
    ...ascent,
    worst: there,
    pull: descend(q, velocity, there, prior, noise, settings),
  };
}

// A point: v <- momentum v + g(w + e) + T P (w - m),  w <- w - rate v;  e is SAM's, or none.
export function pointStep(loss, w, velocity, prior, { rate, momentum, T, radius = 0 }) {
  const from = w.slice(),
    g = zeros(w.length),
    value = loss.both(w, g),
    e = radius ? sam(g, radius) : null;
  const there = zeros(w.length);
  const at = e ? loss.both(plus(w, e), there) : (there.set(g), value);
  for (let i = 0; i < w.length; i++) {
    velocity[i] =
      momentum * velocity[i] +
      there[i] +
      T * Math.exp(-2 * prior.logStd[i]) * (w[i] - prior.mean[i]);
    w[i] -= rate * velocity[i];
  }
  return { from, value, at, g, e, there };
}

// w <- w - rate (g + T P (w - m)) + sqrt(2 rate T) xi
export function sgldStep(loss, w, prior, xi, { rate, T }) {
  const g = zeros(w.length),
    value = loss.both(w, g);
  for (let i = 0; i < w.length; i++) {
    const pull = T * Math.exp(-2 * prior.logStd[i]) * (w[i] - prior.mean[i]);
    w[i] += -rate * (g[i] + pull) + Math.sqrt(2 * rate * T) * xi[i];
  }
  return { value, g };
}

// U(z) = L(w(z)) / T + |z|^2 / 2 with w = m + std z, and dU/dz.
export function potential(loss, prior, T, z) {
  const slope = zeros(z.length),
    mean = loss.both(draw(prior, z), slope);
  for (let i = 0; i < z.length; i++) slope[i] = (slope[i] * Math.exp(prior.logStd[i])) / T + z[i];
  return { value: mean / T + 0.5 * dot(z, z), slope, mean };
}

export function leapfrog(U, z, momentum, at, size, n, path) {
  let p = plus(momentum, at.slope, -0.5 * size);
  for (let i = 0; i < n; i++) {
    z = plus(z, p, size);
    at = U(z);
    p = plus(p, at.slope, i < n - 1 ? -size : -0.5 * size);
    path?.push(z);
  }
  return { z, momentum: p, at };
}

// The step size that brings the acceptance rate to `accept`, by dual averaging of its logarithm
// (Hoffman & Gelman 2014).
export class StepSize {
  t;
  error;
  accept;
  first;
  average;

  constructor(first, accept = 0.8) {
    Object.assign(this, {
      t: 0,
      error: 0,
      log: Math.log(first),
      average: Math.log(first),
      first: Math.log(first),
      accept,
    });
  }

  get size() {
    return Math.exp(this.log);
  }

  follow(rate) {
    this.t += 1;
    this.error += (this.accept - rate - this.error) / (this.t + 10);
    this.log = Math.log(10) + this.first - (Math.sqrt(this.t) / 0.05) * this.error;
    this.average += this.t ** -0.75 * (this.log - this.average);
  }

  settle() {
    Object.assign(this, { t: 0, error: 0, log: this.average, first: this.average });
  }
}

// One trajectory from z: share in [1/2, 3/2] of the time, accepted with probability min(1, exp(H
// before - H after)).
export function hmcStep(
  U,
  z,
  at,
  momentum,
  share,
  chance,
  size,
  { time = Math.PI / 2, most = 500, path = undefined } = {},
) {
  const n = Math.min(most, Math.ceil((share * time) / size));
  const end = leapfrog(U, z, momentum, at, size, n, path);
  const gain =
    at.value + 0.5 * dot(momentum, momentum) - end.at.value - 0.5 * dot(end.momentum, end.momentum);
  const rate = Number.isFinite(gain) ? Math.exp(Math.min(0, gain)) : 0;
  return chance < rate
    ? { z: end.z, at: end.at, rate, n, taken: true }
    : { z, at, rate, n, taken: false };
}

// ------------------------------------------------------------------ one run of a method

export const METHODS = ["gd", "sam", "vi", "sabma", "sgld", "hmc"];
export const GAUSSIAN = { vi: true, sabma: true },
  CHAIN = { sgld: true, hmc: true };

// start { mean, logStd }; settings { rate, momentum, T, radius, draws }.  `settings` may change
// between steps.
export class Learner {
  settings;
  random;
  loss;
  method;
  prior;
  steps;
  gradients;
  kept;

  constructor(method, loss, prior, start, settings, seed) {
    Object.assign(this, {
      method,
      loss,
      prior,
      settings,
      random: new Random(seed),
      steps: 0,
      gradients: 0,
      kept: [],
    });
    this.q = copyOf(start);
    this.velocity = atRest(loss.dim);
    if (method === "hmc") {
      this.z = start.mean.map((m, i) => (m - prior.mean[i]) / Math.exp(prior.logStd[i]));
      this.size = new StepSize(0.1);
    }
  }

  get finite() {
    return (
      this.q.mean.every((x) => Number.isFinite(x) && Math.abs(x) < 1e6) &&
      this.q.logStd.every(Number.isFinite)
    );
  }

  noise() {
    return Array.from({ length: this.settings.draws }, () => this.random.normals(this.loss.dim));
  }

  step() {
    const { method, loss, q, velocity, prior, settings } = this;
    this.steps += 1;
    if (method === "vi" || method === "sabma") {
      const noise = this.noise();
      this.last = (method === "vi" ? viStep : sabmaStep)(loss, q, velocity, prior, noise, settings);
      this.last.noise = noise;
      this.gradients += noise.length * (this.last.worst ? 2 : 1);
    } else if (method === "gd" || method === "sam") {
      const radius = method === "sam" ? settings.radius : 0;
      this.last = pointStep(loss, q.mean, velocity.mean, prior, { ...settings, radius });
      this.gradients += radius ? 2 : 1;
    } else if (method === "sgld") {
      this.last = sgldStep(loss, q.mean, prior, this.random.normals(loss.dim), settings);
      this.gradients += 1;
      this.keep(q.mean.slice(), 5);
    } else {
      this.trajectory();
    }
    return this.last;
  }

  trajectory() {
    const { loss, prior, settings, random } = this,
      U = (z) => potential(loss, prior, settings.T, z),
      path = [];
    const momentum = random.normals(loss.dim),
      share = 0.5 + random.uniform();
    this.last = hmcStep(U, this.z, U(this.z), momentum, share, random.uniform(), this.size.size, {
      path,
      most: settings.most ?? 200,
    });
    this.last.path = path.map((z) => draw(prior, z));
    this.z = this.last.z;
    this.gradients += this.last.n;
    if (this.steps <= 60) this.size.follow(this.last.rate);
    if (this.steps === 60) this.size.settle();
    this.q.mean.set(draw(prior, this.z));
    this.keep(this.q.mean.slice(), 1);
  }

  keep(w, every) {
    if (this.steps % every) return;
    this.kept.push(w);
    if (this.kept.length > 400) this.kept.shift();
  }

  // The members of an ensemble of n: draws of q at this noise, the last places of a chain, or the
  // one point.
  members(n, noise) {
    if (GAUSSIAN[this.method]) return noise.slice(0, n).map((z) => draw(this.q, z));
    if (CHAIN[this.method] && this.kept.length) {
      // over the second half of the chain
      const every = Math.max(1, Math.floor(this.kept.length / 2 / n));
      return this.kept.filter((_, i) => (this.kept.length - 1 - i) % every === 0).slice(-n);
    }
    return [this.q.mean];
  }
}

// ------------------------------------------------------------------ curvature

// H v by a difference of fourth order of gradients.
export function hessianTimes(loss, w, v) {
  const h = 1e-3 / Math.max(norm(v), 1e-300),
    at = (t) => {
      const g = zeros(w.length);
      loss.both(plus(w, v, t * h), g);
      return g;
    };
  const [a, b, c, d] = [at(1), at(-1), at(2), at(-2)];
  return a.map((_, i) => (8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h));
}

// The k largest eigenpairs of the Hessian at w, by Lanczos with full reorthogonalisation.
// near: eigenpairs of a place nearby, whose vectors save most of the iterations.
export function topEigenpairs(loss, w, k, iters = 40, near = null) {
  const D = w.length,
    m = Math.min(D, iters),
    basis = [],
    diagonal = [],
    off = [];
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
  const n = basis.length,
    T = Array.from({ length: n }, (_, i) =>
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

// Eigenpairs of a small symmetric matrix, largest first, by Jacobi's rotations.
export function symmetricEigen(A) {
  const n = A.length,
    V = A.map((_, i) => Float64Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 40; sweep++) {
    let rest = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        rest += A[p][q] ** 2;
        if (Math.abs(A[p][q]) < 1e-300) continue;
        const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1)),
          c = 1 / Math.hypot(t, 1),
          s = t * c;
        for (let i = 0; i < n; i++) {
          const x = A[i][p],
            y = A[i][q];
          A[i][p] = c * x - s * y;
          A[i][q] = s * x + c * y;
        }
        for (let i = 0; i < n; i++) {
          const x = A[p][i],
            y = A[q][i];
          A[p][i] = c * x - s * y;
          A[q][i] = s * x + c * y;
        }
        for (let i = 0; i < n; i++) {
          const x = V[i][p],
            y = V[i][q];
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

// ------------------------------------------------------------------ two weights: integrals over q

const NODES = []; // the trapezoid rule on a standard normal: exact to rounding for smooth L
for (let a = -4.5; a <= 4.5; a += 0.5)
  for (let b = -4.5; b <= 4.5; b += 0.5) NODES.push([a, b, Math.exp(-0.5 * (a * a + b * b))]);
const MASS = NODES.reduce((s, node) => s + node[2], 0);

// E_q[L] over the whole of q.
export function integral(loss, q) {
  const [s, t] = q.logStd.map(Math.exp),
    w = zeros(2);
  let sum = 0;
  for (const [a, b, weight] of NODES) {
    w[0] = q.mean[0] + s * a;
    w[1] = q.mean[1] + t * b;
    sum += weight * loss.both(w, null);
  }
  return sum / MASS;
}

// The largest L within this distance of w, over rings of a disc.
export function worstWithin(loss, w, radius) {
  let most = loss.both(w, null);
  for (let ring = 1; ring <= 4; ring++)
    for (let i = 0; i < 32; i++) {
      const r = (radius * ring) / 4,
        angle = (2 * Math.PI * i) / 32;
      most = Math.max(
        most,
        loss.both([w[0] + r * Math.cos(angle), w[1] + r * Math.sin(angle)], null),
      );
    }
  return most;
}

// ------------------------------------------------------------------ predictions and scores

export function softmax(out, into, at) {
  let most = -Infinity,
    sum = 0;
  for (const o of out) most = Math.max(most, o);
  for (let c = 0; c < out.length; c++) {
    into[at + c] = Math.exp(out[c] - most);
    sum += into[at + c];
  }
  for (let c = 0; c < out.length; c++) into[at + c] /= sum;
}

// Probabilities (N C) averaged over the members' weights.
export function averaged(network, W, x) {
  const wide = network.widths[0],
    classes = network.widths.at(-1),
    n = x.length / wide;
  const mean = zeros(n * classes),
    one = zeros(n * classes);
  for (const w of W) {
    for (let i = 0; i < n; i++) softmax(network.forward(w, x, i * wide), one, i * classes);
    for (let i = 0; i < mean.length; i++) mean[i] += one[i] / W.length;
  }
  return mean;
}

export function nllScore(probs, y) {
  const classes = probs.length / y.length;
  return (
    y.reduce((s, label, i) => s - Math.log(Math.max(probs[i * classes + label], 1e-300)), 0) /
    y.length
  );
}

export function accuracy(probs, y) {
  const classes = probs.length / y.length;
  return (
    y.filter((label, i) => {
      for (let c = 0; c < classes; c++)
        if (probs[i * classes + c] > probs[i * classes + label]) return false;
      return true;
    }).length / y.length
  );
}

// Expected calibration error over bins (i/B, (i+1)/B] of the largest probability.
export function ece(probs, y, bins = 15) {
  const classes = probs.length / y.length,
    gap = zeros(bins);
  y.forEach((label, i) => {
    let best = 0;
    for (let c = 1; c < classes; c++)
      if (probs[i * classes + c] > probs[i * classes + best]) best = c;
    const confidence = probs[i * classes + best],
      bin = Math.min(bins - 1, Math.max(0, Math.ceil(confidence * bins) - 1));
    gap[bin] += (best === label ? 1 : 0) - confidence;
  });
  return gap.reduce((s, x) => s + Math.abs(x), 0) / y.length;
}
