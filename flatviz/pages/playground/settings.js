// What the worlds of a network share.
export const GRID = 27,
  PLANE = 23,
  REACH = 1.2,
  HIGH = 1.5,
  TESTS = 200,
  LONG = 1500,
  SHORT = 200, // steps that the axis of a chart has from the start
  JOB_MS = 3,
  GAP_NOISE = 0.15;
export const CLASS_INKS = [
  [78, 134, 181],
  [214, 133, 62],
];
export const DATA = {
    spiral: "spirals",
    moons: "two moons",
    circles: "circles",
    xor: "XOR",
    none: "your points alone, two of each or more",
  },
  GAP_NAME = "a regression with a gap";
export const NETS = { one: ["one layer of 12", [12]], two: ["two layers of 8", [8, 8]] };
