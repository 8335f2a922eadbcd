// A ground of two weights as a picture: colour by height, light from the upper left, level lines,
// and the mass of a posterior.
import { element } from "../front/elements.js";
import { TALL, WIDE } from "./grounds.js";
import { isDark } from "../front/colors.js";
import { Board, inks, levelLines, strokeLines } from "./ui.js";

const COLUMNS = 181,
  ROWS = 121;

// The place of a pointer in weights.
export function placeOn(canvas, e) {
  const box = canvas.getBoundingClientRect();
  return [
    WIDE[0] + ((e.clientX - box.left) / box.width) * (WIDE[1] - WIDE[0]),
    TALL[1] - ((e.clientY - box.top) / box.height) * (TALL[1] - TALL[0]),
  ];
}

export class Ground {
  loss;
  top;
  relief;
  density;

  // paint(pen, X, Y, unit, height): what lies on the ground, X and Y from weights to pixels.
  constructor(paint) {
    this.board = new Board(
      (pen, width, height) => {
        if (!this.loss) return;
        const r = this.relief,
          unit = width / 6;
        if (!r || r.width !== width || r.height !== height || r.dark !== isDark())
          this.paintRelief(width, height);
        pen.drawImage(this.relief.whole, 0, 0, width, height);
        paint(
          pen,
          (x) => (x - WIDE[0]) * unit,
          (y) => (TALL[1] - y) * unit,
          unit,
          height,
        );
      },
      { ratio: 2 / 3, label: "" },
    );
  }

  // top: height of the loss above its least that has the last level.
  lay(loss, top) {
    this.loss = loss;
    this.top = top;
    this.relief = null;
    this.density = null;
  }

  heights() {
    const values = new Float64Array(ROWS * COLUMNS),
      w = new Float64Array(2);
    for (let i = 0; i < ROWS; i++)
      for (let j = 0; j < COLUMNS; j++) {
        w[0] = WIDE[0] + (j / (COLUMNS - 1)) * 6;
        w[1] = TALL[1] - (i / (ROWS - 1)) * 4;
        values[i * COLUMNS + j] = this.loss.both(w, null);
      }
    return values;
  }

  paintRelief(width, height) {
    const [shade, shine, steep] = isDark() ? [0.45, 0.6, 4] : [0.22, 0.14, 1.7];
    const values = this.heights(),
      ink = inks(),
      low = Math.min(...values);
    const share = values.map((v) => {
      const t = (v - low) / this.top;
      return t < 1 ? 0.75 * t : 1 - 0.25 / t;
    });
    const small = element("canvas", { width: COLUMNS, height: ROWS }),
      pen = small.getContext("2d"),
      image = pen.createImageData(COLUMNS, ROWS);
    for (let i = 0; i < ROWS; i++)
      for (let j = 0; j < COLUMNS; j++) {
        const k = i * COLUMNS + j,
          dx =
            share[i * COLUMNS + Math.min(COLUMNS - 1, j + 1)] -
            share[i * COLUMNS + Math.max(0, j - 1)];
        const dy =
          share[Math.min(ROWS - 1, i + 1) * COLUMNS + j] - share[Math.max(0, i - 1) * COLUMNS + j];
        const light = Math.max(-shade, Math.min(shine, steep * (-dx - dy)));
        for (let c = 0; c < 3; c++)
          image.data[4 * k + c] =
            (ink.low[c] + (ink.high[c] - ink.low[c]) * share[k]) * (1 + light);
        image.data[4 * k + 3] = 255;
      }
    pen.putImageData(image, 0, 0);
    const { dense } = this.board,
      whole = element("canvas", { width: width * dense, height: height * dense }),
      out = whole.getContext("2d");
    out.imageSmoothingQuality = "high";
    out.drawImage(small, 0, 0, width * dense, height * dense);
    out.scale((width * dense) / (COLUMNS - 1), (height * dense) / (ROWS - 1));
    out.strokeStyle = isDark() ? "rgba(190,225,235,.28)" : "rgba(60,70,80,.2)";
    for (let level = 1; level <= 14; level++) {
      out.lineWidth = ((COLUMNS - 1) / width) * (level % 4 ? 0.8 : 1.4);
      strokeLines(
        out,
        levelLines(share, ROWS, COLUMNS, level / 15),
        ROWS,
        COLUMNS,
        COLUMNS - 1,
        ROWS - 1,
      );
    }
    this.relief = { whole, width, height, dark: isDark() };
  }

  // Lines of the posterior density at temperature T that hold 50 % and 95 % of its mass.
  drawMass(pen, width, height, T, priorStd) {
    this.density ??= this.massOf(T, priorStd);
    pen.strokeStyle = inks().truth;
    this.density.forEach((level, i) => {
      pen.lineWidth = i ? 1.4 : 2.4;
      strokeLines(pen, level, ROWS, COLUMNS, width, height);
    });
  }

  massOf(T, priorStd) {
    const values = this.heights(),
      low = Math.min(...values);
    const density = values.map((v, k) => {
      const x = WIDE[0] + ((k % COLUMNS) / (COLUMNS - 1)) * 6,
        y = TALL[1] - (Math.floor(k / COLUMNS) / (ROWS - 1)) * 4;
      return Math.exp(-(v - low) / T - (0.5 * (x * x + y * y)) / priorStd ** 2);
    });
    const order = Array.from(density).sort((a, b) => b - a),
      total = order.reduce((s, v) => s + v, 0);
    const levels = [0.5, 0.95].map((share) => {
      let sum = 0;
      return order.find((v) => (sum += v) >= share * total);
    });
    return levels.map((level) => levelLines(density, ROWS, COLUMNS, level));
  }
}
