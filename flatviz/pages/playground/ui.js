// What the worlds share: sliders, menus, canvases in screen pixels, a clock that rests out of
// sight.
import { element, penOf } from "../front/elements.js";

/** @import { Draw } from "./types.d.ts" */

/** The children of an element. @param {Element} parent */
export const childrenOf = (parent) => /** @type {HTMLElement[]} */ ([...parent.children]);

/**
 * A slider over the values `stops`. change(value, final) hears every move, and once more when the
 * hand lets go.
 */
export class Slider {
  /**
   * @param {string} label
   * @param {number[]} stops
   * @param {number} value
   * @param {(value: number, final: boolean) => void} change
   * @param {{ say?: (value: number) => string, help?: string }} options
   */
  constructor(label, stops, value, change, { say = (x) => String(x), help = "" } = {}) {
    this.stops = stops;
    this.say = say;
    this.input = element("input", {
      type: "range",
      min: 0,
      max: stops.length - 1,
      step: 1,
      "aria-label": label,
    });
    this.text = element("output");
    this.node = element(
      "div",
      { class: "pg-slider", title: help || null },
      element("span", {}, label),
      this.text,
      this.input,
    );
    this.input.addEventListener("input", () => {
      this.told();
      change(this.value, false);
    });
    this.input.addEventListener("change", () => change(this.value, true));
    this.value = value;
  }

  /** Where the slider stands. */
  get value() {
    return this.stops[Number(this.input.value)];
  }

  set value(wanted) {
    const off = this.stops.map((s) => Math.abs(s - wanted));
    this.input.value = String(off.indexOf(Math.min(...off)));
    this.told();
  }

  /** Say the value beside the slider. */
  told() {
    this.text.textContent = this.say(this.value);
    this.input.setAttribute("aria-valuetext", this.text.textContent);
  }
}

/** A menu of [key, text], with its label; change(key) hears what is chosen. */
export class Menu {
  /**
   * @param {string} label
   * @param {string[][]} options
   * @param {string} value
   * @param {(key: string) => void} change
   */
  constructor(label, options, value, change) {
    const made = options.map(([key, text]) =>
      element("option", { value: key, selected: key === value }, text),
    );
    this.select = element("select", { "aria-label": label }, ...made);
    this.select.addEventListener("change", () => change(this.select.value));
    this.node = element("label", { class: "pg-menu" }, element("span", {}, label), this.select);
  }
}

/** A canvas as wide as its box, drawn in CSS pixels. `ratio` is its height over its width. */
export class Board {
  width = 0;
  height = 0;
  dense = 1; // pixels of the canvas to one of CSS

  /**
   * @param {Draw} draw
   * @param {{ ratio: number, label: string, least?: number, most?: number }} size
   */
  constructor(draw, { ratio, label, least = 0, most = Infinity }) {
    this.canvas = element("canvas", { role: "img", "aria-label": label });
    this.node = element("div", { class: "pg-board" }, this.canvas);
    this.paint = draw;
    this.ratio = ratio;
    this.least = least;
    this.most = most;
    new ResizeObserver(() => this.fit()).observe(this.node);
  }

  /** Take the size of the box. */
  fit() {
    const width = Math.floor(this.node.clientWidth);
    const height = Math.round(Math.min(this.most, Math.max(this.least, width * this.ratio)));
    if (!width || (width === this.width && height === this.height)) return;
    const dense = Math.min(2, devicePixelRatio || 1);
    this.width = width;
    this.height = height;
    this.dense = dense;
    Object.assign(this.canvas, { width: width * dense, height: height * dense });
    this.canvas.style.height = `${height}px`;
    this.draw();
  }

  /** Take another ratio of height to width. @param {number} ratio */
  reshape(ratio) {
    if (ratio !== this.ratio) {
      this.ratio = ratio;
      this.fit();
    }
  }

  /** Draw the picture anew. */
  draw() {
    if (!this.width) return;
    const pen = penOf(this.canvas);
    pen.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineJoin = pen.lineCap = "round";
    this.paint(pen, this.width, this.height);
  }

  /** Describe the picture to a reader who does not see it. @param {string} text */
  say(text) {
    if (this.canvas.getAttribute("aria-label") !== text)
      this.canvas.setAttribute("aria-label", text);
  }
}

/** A clock that calls frame(seconds since the last) while it plays and its node is in sight. */
export class Clock {
  /**
   * @param {Element} seen
   * @param {(seconds: number) => void} frame
   */
  constructor(seen, frame) {
    this.frame = frame;
    this.playing = false;
    this.visible = false;
    this.request = 0;
    this.last = 0;
    new IntersectionObserver(
      ([entry]) => {
        this.visible = entry.isIntersecting;
        this.wake();
      },
      { threshold: 0.05 },
    ).observe(seen);
  }

  /** Play or rest. @param {boolean} on */
  play(on) {
    this.playing = on;
    this.wake();
  }

  /** Ask for the next frame, if there is one to be. */
  wake() {
    if (!this.playing || !this.visible || this.request) return;
    this.last = performance.now();
    /** @param {number} now */
    const tick = (now) => {
      this.request = 0;
      if (!this.playing || !this.visible) return;
      const passed = (now - this.last) / 1000;
      this.last = now;
      this.request = requestAnimationFrame(tick);
      this.frame(Math.min(passed, 0.1));
    };
    this.request = requestAnimationFrame(tick);
  }
}
