// The shapes that modules of the explorer hand each other: a family's bundle, figures of plotly,
// and what the controls say.

// ---- a family, as Python packs it

/** What is shown: an index, and the members' records of float32 one after the other. */
export interface Bundle {
  index: Index;
  buffer: ArrayBuffer | Uint8Array;
}

/** What is where in a bundle. */
export interface Index {
  n_max: number;
  /** numbers of a member's record. */
  record: number;
  fields: Fields;
  members: Meta[];
  figures: Entry[];
  /** radii that the slider of a method offers beside the fitted ones. */
  stops: Record<string, number[]>;
  /** whether a kernel can fit those. */
  live: boolean;
  /** of each member; 0 where they are not known. */
  seeds: number;
  /** sections of the article. */
  story: Section[];
  /** lines of Python that make the family. */
  code: string[];
  /** the radius at which each method is shown first. */
  defaults: Record<string, number>;
  /** colours of methods, and what they are on dark ground. */
  dark: Record<string, string>;
  /** of plotly. */
  config: object;
  images?: Pixels;
}

/** Members fitted since, and the parts of figures that change with them. */
export interface Extra {
  index: { record: number; members: Meta[]; figures?: (Partial<Entry> & { name: string })[] };
  buffer: ArrayBuffer | Uint8Array;
}

/** Where an array stands in a record, and its shape. */
export type Fields = Record<string, { offset: number; shape: number[] }>;

/** A section of the article: what it says, and the state of which it speaks. */
export interface Section {
  title: string;
  text: string;
  set: Partial<Look> & Partial<Stand> & { see?: string };
}

/** What is known of a member beside its numbers. */
export interface Meta {
  method: string;
  radius: number;
  unit: string;
  label: string;
  /** values that are not numbers, by field. */
  words: Record<string, Value>;
  n_spectra: number;
  n_draws: number;
  reach?: string;
  /** the label of the method that it equals. */
  equals?: string;
  /** of a preview. */
  note?: string;
  /** names of figures that come with a later record. */
  waiting?: string[];
  alts: Record<string, string>;
  ranges: Record<string, Ranges>;
  images: ImageMeta;
}

/** Axis -> range. */
export type Ranges = Record<string, number[]>;

/** What the draws of a member say of images of the test split. */
export interface ImageMeta extends Partial<Pixels> {
  /** rows of the test split. */
  pool: number[];
  labels: number[];
  /** places in the pool and their disagreement, for each ensemble size. */
  shown: number[][];
  nats: number[][];
  n_draws: number;
  classes: string[];
  /** a byte for each draw, place and class, as text. */
  probs: string;
  color: string;
}

/** Pixels of images: bytes as text, and the rows of the test split. */
export interface Pixels {
  rows: number[];
  pixels: string;
  shape: number[];
}

/** A member: what is known of it, its record, and the arrays that were read from it. */
export interface Member {
  meta: Meta;
  data: Float32Array;
  read: Map<string, Nested[]>;
  images?: Images;
  /** how often it was fitted again. */
  version?: number;
}

/** Numbers in lists in lists. */
export type Nested = number | Nested[];

/** What a bind puts into a figure. */
export type Value = number | string | boolean | null | undefined | Value[];

/** A figure: what Python drew, and which parts change. */
export interface Entry {
  name: string;
  kind: "plotly" | "images";
  /** its tab. */
  group: string;
  /** what it is an alternative to, and its options there. */
  slot: string;
  option: Record<string, string>;
  /** of twelve columns, and the least width in px. */
  span: number;
  least: number;
  height: number;
  data: Trace[];
  layout: PlotLayout;
  binds: Bind[];
  /** axes whose range holds every member. */
  shared: string[];
  /** which of its points are draws: trace -> kind. */
  link: Record<string, string>;
  caption: string;
}

/** A part of a figure that changes: its path, the field, and which rows of it. */
export interface Bind {
  path: string;
  field: string;
  rows: "all" | "draws" | "segments" | "size";
}

/** What a member says of its images. */
export interface Images {
  classes: string[];
  /** draws that it has, of so many. */
  kept(n: number): number;
  prob(draw: number, place: number, label: number): number;
  /** The images at an ensemble size, those of most disagreement first. */
  of(n: number): ImageItem[];
}

/** An image: its place in the pool, its row of the test split, its label and disagreement. */
export interface ImageItem {
  place: number;
  row: number;
  label: number;
  nats: number;
}

// ---- the state of the controls

/** A method at a radius. */
export interface Side {
  method: string;
  radius: number;
}

export interface Stand extends Side {
  n_draws: number;
}

/** What a reader looks at. */
export interface Look {
  tab: string;
  /** the second state beside the first. */
  compare: Side | null;
  /** the marked draw. */
  picked: number | null;
  /** the chosen alternative by slot. */
  chosen: Record<string, string>;
  /** the section of the article. */
  step: number;
}

export type Controls = Stand & Look;

/** A member at the controls: it may be that of another radius than the wanted. */
export interface Standing {
  method: string;
  wanted: number;
  member: Member;
}

/** What the menu of methods and the radius slider offer for a method. */
export interface Offer {
  method: string;
  label: string;
  stops: number[];
  unit: string;
  /** the radius at which it is shown first. */
  first?: number;
}

/** The controls, with the members that they show. */
export interface Now extends Controls {
  a: Standing;
  b: Standing | null;
}

/** A widget model, or what stands in for one. */
export interface Model {
  get<Name extends keyof Traits>(name: Name): Traits[Name];
  set<Name extends keyof Traits>(name: Name, value: Traits[Name]): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off?(event: string, callback: () => void): void;
}

export interface Traits extends Stand {
  look: Partial<Look>;
}

/** What a kernel is asked: to fit, to stop, for more seeds, to keep a picture. */
export type Ask = (want: string, what?: object) => void;

/** Past states, for undo. */
export interface History {
  past: Controls[];
  start: Controls;
}

/** What `show` takes. */
export interface Options {
  Plotly: Plotly;
  model: Model;
  el: HTMLElement;
  bundle: Bundle;
  ask?: Ask | null;
  /** whether the state stands in the address of the page. */
  hash?: boolean;
  /** of the same controls, shown here before. */
  former?: History | null;
}

/** What the kernel does. */
export interface Status {
  /** done, from 0 to 1. */
  share: number;
  text: string;
  busy: boolean;
  error?: string;
}

// ---- pictures

/** What a picture takes from the page. */
export interface Tools {
  Plotly: Plotly;
  index: Index;
  members: Member[];
  /** The reader points at a draw, or picks it with a click. */
  point(kind: "hover" | "click", draw: number | null): void;
  choose(slot: string, option: string): void;
  chosen(): Record<string, string>;
  redraw(): void;
  /** Mark the draw anew: the picture has moved. */
  replace(picture: { light(draw: number | null): void }): void;
}

/** How a picture is drawn: its room in px, its colours, its ranges. */
export interface Room {
  height: number;
  /** height that leaves the controls in sight. */
  most: number;
  width?: number;
  dark: boolean;
  phone: boolean;
  ranges: Ranges;
  transition?: Transition;
}

/** A picture in one of its places. */
export type AnyPicture = import("./figures.js").Picture | import("./images.js").ImagePicture;

/** A picture in a place of the page, with the letter of its state. */
export type Shown = [letter: string, entry: Entry, picture: AnyPicture];

// ---- plotly.js, as far as it is used

export interface Plotly {
  react(plot: PlotElement, data: Trace[], layout: object, config: object): void;
  relayout(plot: PlotElement, changes: object): void;
  purge(plot: PlotElement): void;
  addFrames(plot: PlotElement, frames: object[]): Promise<void>;
  toImage(plot: PlotElement, how: object): Promise<string>;
  Plots: { resize(plot: PlotElement): void };
}

export interface Transition {
  duration: number;
  easing?: string;
}

export interface Font {
  size?: number;
  color?: string;
}

export interface Title {
  text?: string;
  font?: Font;
}

export interface Margin {
  t: number;
  b: number;
  l: number;
  r: number;
}

export interface Axis {
  title?: Title;
  range?: number[];
  domain?: number[];
  scaleanchor?: string;
  showticklabels?: boolean;
  nticks?: number;
  ticks?: string;
  tickfont?: Font;
  automargin?: boolean;
}

/** A text or a shape on a figure. */
export interface Note {
  text?: string;
  font?: Font;
  x?: number;
  y?: number;
  xref?: string;
  yref?: string;
  xanchor?: string;
  yanchor?: string;
  xshift?: number;
  yshift?: number;
  align?: string;
  showarrow?: boolean;
  opacity?: number;
}

export interface Scene {
  xaxis: Axis;
  yaxis: Axis;
  zaxis: Axis;
  camera?: { eye: Record<string, number> };
}

/** The layout of a figure. */
export interface PlotLayout {
  [axis: `xaxis${string}`]: Axis | undefined;
  [axis: `yaxis${string}`]: Axis | undefined;
  template: { layout: { margin: Margin } };
  margin?: Partial<Margin>;
  title?: Title;
  legend?: { font?: Font };
  annotations?: Note[];
  shapes?: Note[];
  showlegend?: boolean;
  height?: number;
  scene?: Scene;
  dragmode?: boolean;
  uirevision?: string;
  datarevision?: number;
}

/** Numbers as Python packs them: bytes as text, and their type, "f8". */
export interface Packed {
  bdata: string;
  dtype: string;
}

export interface ColorBar {
  title?: Title;
  thickness?: number;
  xpad?: number;
  tickfont?: Font;
}

export interface Trace {
  type?: string;
  name?: string;
  mode?: string;
  x?: number[] | Packed;
  y?: number[] | Packed;
  text?: (string | undefined)[];
  textposition?: string;
  textfont?: Font;
  marker?: { color?: string | number[]; symbol?: string };
  line?: { color?: string };
  colorbar?: ColorBar;
  showscale?: boolean;
  showlegend?: boolean;
  visible?: boolean | string;
  cliponaxis?: boolean;
}

export interface Figure {
  data: Trace[];
  layout: PlotLayout;
}

/** An element that plotly has drawn, with what it keeps there. */
export interface PlotElement extends HTMLDivElement {
  data: Trace[];
  layout: PlotLayout;
  _fullLayout?: FullLayout;
  _fullData: FullTrace[];
  calcdata: Point[][];
  on(event: string, hear: (event: PointerAt) => void): void;
}

/** What the pointer is at. */
export interface PointerAt {
  points?: { data: { name?: string; x: ArrayLike<number> }; pointNumber: number; x: number }[];
}

export interface FullLayout {
  [axis: `xaxis${string}`]: FullAxis | undefined;
  [axis: `yaxis${string}`]: FullAxis | undefined;
  width: number;
  height: number;
  _size: { t: number; h: number };
  _plots: Record<string, Subplot>;
}

export interface FullAxis {
  _id: string;
  _offset: number;
  _length: number;
  range: number[];
  autorange: boolean;
  /** Data to pixels. */
  d2p?(value: number): number;
}

/** A place of traces: its axes, and its layers as d3 selections. */
export interface Subplot {
  xaxis: FullAxis;
  yaxis: FullAxis;
  plot: Selection;
  zoomScalePts?: Selection;
}

/** A selection of d3. */
export interface Selection {
  select(selector: string): Selection;
  selectAll(selector: string): Selection;
  empty(): boolean;
  size(): number;
  interrupt(): Selection;
  transition(): Selection;
  duration(ms: number): Selection;
}

/** A trace as plotly completed it. */
export interface FullTrace extends Trace {
  type: string;
  index: number;
  x: number[];
  y: number[];
  xaxis: string;
  yaxis: string;
  zorder?: number;
  fill?: string;
  stackgroup?: string;
  error_x?: ErrorBars;
  error_y?: ErrorBars;
  _length: number;
  _extremes?: Record<string, { min: Extreme[]; max: Extreme[] }>;
  _module: TraceModule;
}

export interface ErrorBars {
  visible: boolean;
  symmetric: boolean;
  array: number[];
  arrayminus: number[];
}

export interface Extreme {
  val: number;
  pad: number;
  extrapad?: boolean;
}

/** How plotly computes and draws traces of a type. */
export interface TraceModule {
  calc(plot: PlotElement, trace: FullTrace): Point[];
  crossTraceCalc?(plot: PlotElement, place: Subplot): void;
  plot(
    plot: PlotElement,
    place: Subplot,
    traces: Point[][],
    layer: Selection,
    transition?: Transition,
  ): void;
  style(plot: PlotElement): void;
}

/** A computed point; the first of a trace holds the trace. */
export interface Point {
  trace: FullTrace;
  t?: object;
  i?: number;
  y?: number;
  yh?: number;
  ys?: number;
}
