// The shapes that modules of the playground hand each other.

/** A weight vector, a gradient, or standard normal noise. */
export type Vector = Float64Array;

/** A mean loss of weights. */
export interface Loss {
  dim: number;
  /** The loss at w; its gradient is written to g. */
  both(w: ArrayLike<number>, g: Vector | null): number;
}

/** A Gaussian with a width for each weight: a posterior q, or the prior. */
export interface Gaussian {
  mean: Vector;
  logStd: Vector;
}

/** A value, and its gradient in mean and log std of a Gaussian. */
export interface Slope extends Gaussian {
  value: number;
}

/** What a descent keeps from step to step: momentum, and running squares of the gradient. */
export interface Velocity {
  mean: Vector;
  squares: Vector;
  filled: number;
}

/** What a step is taken with. */
export interface Settings {
  T: number;
  rate: number;
  momentum: number;
  /** of SA-BMA's ball, or of SAM's. */
  radius: number;
  /** of noise, for each step of VI and SA-BMA. */
  draws: number;
  /** leapfrog steps of a trajectory of HMC, at most. */
  most?: number;
}

/** The worst Gaussian near q to first order, and how q gets there. */
export interface Ascent {
  delta: Gaussian;
  there: Gaussian;
  /** of radius², that went into the means. */
  share: number;
}

/** A step of VI, or with an ascent of SA-BMA. */
export interface GaussianStep extends Partial<Ascent> {
  from: Gaussian;
  g: Slope;
  pull: Slope;
  /** The loss expected at the worst Gaussian. */
  worst?: Slope;
}

/** A step of gradient descent, or with an ascent e of SAM. */
export interface PointStep {
  from: Vector;
  value: number;
  at: number;
  g: Vector;
  e: Vector | null;
  there: Vector;
}

/** The potential energy of HMC at a place, its slope, and the loss there. */
export interface Energy {
  value: number;
  slope: Vector;
  mean: number;
}

/** One step of SA-BMA from its place on a ground, as a picture shows it. */
export interface OneStep {
  loss: Loss;
  noise: Vector[];
  settings: Settings;
  record: GaussianStep;
  /** where SA-BMA goes. */
  after: Gaussian;
  /** where VI goes with the same draws. */
  plain: Gaussian;
  /** of the loss along the ascent, to first order. */
  slope: number;
}

/** How a picture of this size shows weights. */
export interface View {
  width: number;
  height: number;
  /** pixels to a weight. */
  unit: number;
  X: Scale;
  Y: Scale;
}

/** A trajectory of HMC: where the chain stands after it. */
export interface Trajectory {
  z: Vector;
  at: Energy;
  rate: number;
  n: number;
  taken: boolean;
  /** in weights */
  path?: Vector[];
}

/** What a learner's step was made of. */
export type Taken = GaussianStep | PointStep | Trajectory | { value: number; g: Vector };

export interface Eigenpair {
  value: number;
  vector: Vector;
}

/** Points that a network learns: classes, or targets where there is a noise. */
export interface Points {
  x: Vector;
  y: number[];
  noise: number | null;
}

/** A part of a ground, by its kind. */
export type Term =
  | { kind: "bowl"; at: number[]; h: number }
  | { kind: "dent"; at: number[]; depth: number; width: number | number[] }
  | { kind: "valley"; k: number; a: number; b: number }
  | { kind: "wall"; at: number; height: number; soft: number }
  | { kind: "modes"; a: number[]; b: number[]; narrow: number; ratio: number };

/** A named part of a ground: a disc. */
export type Place = [name: string, at: number[], radius: number];

/** A ground of two weights: its parts, and the settings that go with it. */
export interface GroundPlan {
  label: string;
  about: string;
  terms: Term[];
  places: Place[];
  start: number[];
  /** of q where training starts. */
  std: number;
  T: number;
  radius: number;
  rho: number;
  rate: number;
  /** height of the loss that has the last level line. */
  top: number;
}

/** What a method has at some step: its Gaussian, and the weights of its ensemble. */
export interface Stand {
  q: Gaussian;
  members: Vector[];
}

/** Where a whole run ended, and which of its settings were its own. */
export interface End extends Stand {
  method: string;
  lost: boolean;
  T?: number;
  radius?: number;
  draws?: number;
}

/** An end of a sweep over temperatures and radii, with its training loss. */
export interface Fit extends End {
  T: number;
  radius: number;
  train: number;
}

export type Pen = CanvasRenderingContext2D;

/** Draw on a board of this size, in CSS pixels. */
export type Draw = (pen: Pen, width: number, height: number) => void;

/** From a value to pixels. */
export type Scale = (value: number) => number;

/** How a text looks. */
export interface Look {
  color?: string;
  size?: number;
  align?: "left" | "center" | "right";
  weight?: number;
  halo?: boolean;
  base?: CanvasTextBaseline;
}

/** A curve of a small chart. */
export interface Series {
  color: string;
  x: number[];
  y: number[];
  thin?: boolean;
  faint?: boolean;
}

/** Curves of a run that is over: what a network scored, and what it predicted. */
export interface Shadow {
  field: Float32Array | Vector;
  x: number[];
  test: number[];
  ece: number[];
  lambda: number[];
}

/** What a page asks of the playground. */
export interface Options {
  /** of "weights", "step", "network" and "gap", those that are shown. */
  worlds?: string[];
  /** whether the state stands in the address of the page. */
  link?: boolean;
  autoplay?: boolean;
}

/** What a world of a network learns, and how. */
export interface NetworkOptions extends Options {
  kind?: string;
  label?: string;
  methods?: string[];
  /** whether loss planes are shown. */
  planes?: boolean;
  settings?: Record<string, number>;
}

/** A question above the grounds, with the run that answers it. */
export interface Card {
  key: string;
  title: string;
  view: "grounds" | "frontier";
  ask: string;
  guesses: string[][];
  /** settings of the world at the question. */
  set: Record<string, number>;
  /** settings that the run changes. */
  then: Record<string, number>;
  /** methods that are on. */
  on?: string[];
  /** settings of many seeds, which take the place of one run. */
  seeds?: Record<string, number>[];
  tell?(model: Model, ends: End[]): string;
  counts?(model: Model): { name: string; value: string }[];
  /** The key of the right guess, once the run is over. */
  truth(model: Model): string;
  answer(model: Model): string;
}

import type { Model } from "./model.js";
