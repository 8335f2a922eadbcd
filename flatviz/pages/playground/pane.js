// A method on the data of a network's world: its menu, its pictures and what is read of it.
import { element } from "../front/elements.js";
import { METHODS } from "./engine.js";
import { drawClasses, drawLoss, drawRegression } from "./inputs.js";
import { Trial } from "./trial.js";
import { nameOf, words } from "./ink.js";
import { Board, Menu } from "./ui.js";

/** @import { Pen, Shadow } from "./types.d.ts" */
/** @import { NetworkWorld } from "./network.js" */

const SHADOWS = 8; // at most
const FEW = 8; // scores of a run that leaves no shadow
const RATIOS = { regression: 0.44, classes: 0.8 }; // height over width of the predictions

/** A method of a world, its run, and the pictures of it. */
export class Pane {
  /** @type {Shadow[]} */
  shadows = []; // of earlier seeds

  /**
   * @param {NetworkWorld} world
   * @param {string} method
   */
  constructor(world, method) {
    this.world = world;
    this.method = method;
    this.trial = new Trial(world, method);
    this.plane = new Board((pen, w, h) => this.drawInputs(pen, w, h), {
      ratio: world.regression ? RATIOS.regression : RATIOS.classes,
      label: "",
    });
    this.loss = new Board((pen, w, h) => drawLoss(this, pen, w, h), {
      ratio: 0.5,
      label: "",
      most: 230,
    });
    this.plane.canvas.addEventListener("click", (e) => world.add(e, this.plane.canvas));
    const methods = METHODS.map((name) => [name, nameOf(name)]);
    this.menu = new Menu("method", methods, method, (name) => {
      this.method = name;
      this.shadows = [];
      world.again();
    });
    this.reading = element("p", { class: "pg-reads" });
    this.node = element(
      "div",
      { class: "pg-pane" },
      element("div", { class: "pg-head" }, this.menu.node, this.reading),
      this.plane.node,
      world.planes ? this.loss.node : null,
    );
  }

  /** Start anew, with the points and settings of now. */
  begin() {
    this.plane.reshape(this.world.regression ? RATIOS.regression : RATIOS.classes);
    this.trial = new Trial(this.world, this.method);
  }

  /** Keep of a run that is over where its ensemble is undecided, and its curves. */
  keep() {
    const { mean, x, test, ece, lambda } = this.trial;
    if (x.length < FEW) return;
    const field = this.world.regression ? mean : mean.map((p) => p - 0.5);
    this.shadows.push({ field, x, test, ece, lambda });
    if (this.shadows.length > SHADOWS) this.shadows.shift();
  }

  /** Draw both pictures. */
  draw() {
    this.plane.draw();
    this.loss.draw();
  }

  /**
   * Draw what is predicted.
   * @param {Pen} pen
   * @param {number} width
   * @param {number} height
   */
  drawInputs(pen, width, height) {
    if (this.world.regression) drawRegression(this, pen, width, height);
    else drawClasses(this, pen, width, height);
    if (!this.trial.lost) return;
    const look = { align: /** @type {"center"} */ ("center"), weight: 700 };
    words(pen, "diverged: lower rate or radius", width / 2, height / 2, look);
  }
}
