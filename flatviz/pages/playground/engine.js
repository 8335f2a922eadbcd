// The small engine of the playground: random numbers, losses, the updates of flatviz's methods,
// curvature and scores. It draws nothing and knows no page; tests compare it with flatviz.
//
// A loss is { dim, both(w, g) }: the mean loss at w, its gradient written to g (a Float64Array, or
// null for the value alone). q is { mean, logStd }, a Gaussian with a width for each weight; prior
// is another. T is the temperature kl_weight / N: all methods have the target exp(-L(w) / T)
// prior(w).
export * from "./random.js";
export * from "./losses.js";
export * from "./updates.js";
export * from "./learner.js";
export * from "./curvature.js";
export * from "./scores.js";
