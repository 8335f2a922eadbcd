// What the worlds of a network share.
export const GRID = 27; // places of the predictions, along each input
export const PLANE = 23; // and of the loss plane
export const SPAN = [2.4, 2]; // the inputs reach from minus this to this
export const REACH = 1.2; // and the loss plane, in weights
export const HIGH = 1.5; // loss above the lowest that has the last colour
export const TESTS = 200; // points
export const LONG = 1500; // steps of a run
export const SHORT = 200; // steps that the axis of a chart has from the start
export const JOB_MS = 3;
export const GAP_NOISE = 0.15;
export const CLASS_INKS = [
  [78, 134, 181],
  [214, 133, 62],
];
/** Data by their names in the menu. @type {Record<string, string>} */
export const DATA = {
  spiral: "spirals",
  moons: "two moons",
  circles: "circles",
  xor: "XOR",
  none: "your points alone, two of each or more",
};
export const GAP_NAME = "a regression with a gap";
/**
 * Networks: a text and the widths of the hidden layers.
 * @type {Record<string, [string, number[]]>}
 */
export const NETS = { one: ["one layer of 12", [12]], two: ["two layers of 8", [8, 8]] };
