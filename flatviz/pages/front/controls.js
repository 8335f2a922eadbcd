// ---- what stands above the pictures
import { button, element, short, STILL } from "./elements.js";
import { formula } from "./math.js";
import { nearest } from "./records.js";

/** @import { Offer, Side as SideState } from "./types.d.ts" */

/** @typedef {(first: boolean) => boolean} Next Take a step; says whether there was one */

/** A menu of methods and a radius slider: of state A, or of B. */
export class Side {
  method = "";
  wanted = 0; // radius
  /** @type {number[]} */
  stops = [];
  /** @type {Offer[]} */
  offered = [];
  listed = ""; // what stands in the menu
  /** @type {Record<string, number>} */
  remembered = {}; // a radius never moves from one unit to another

  /**
   * @param {string} letter
   * @param {(values: Partial<SideState>) => void} change hears what the reader does
   */
  constructor(letter, change) {
    const of = letter ? ` ${letter}` : "";
    this.letter = element("span", { class: "fv-letter", "aria-hidden": "true" }, letter);
    this.select = element("select", { class: "fv-method", "aria-label": `method${of}` });
    this.radius = element("input", {
      type: "range",
      class: "fv-radius",
      min: 0,
      step: 1,
      "aria-label": `radius${of}`,
    });
    this.text = element("output");
    this.node = element(
      "div",
      { class: "fv-side" },
      this.letter,
      element("label", {}, element("span", {}, `method${of}`), this.select),
      element("label", {}, element("span", {}, `radius${of}`), this.radius, this.text),
    );
    this.select.addEventListener("change", () => {
      this.remembered[this.method] = this.wanted;
      const method = this.select.value;
      const { stops, first } = this.offerOf(method);
      const middle = stops[Math.ceil((stops.length - 1) / 2)];
      change({ method, radius: this.remembered[method] ?? first ?? middle });
    });
    this.radius.addEventListener("input", () =>
      change({ radius: this.stops[Number(this.radius.value)] }),
    );
  }

  /** What is offered for a method. @param {string} method */
  offerOf(method) {
    return this.offered.find((offer) => offer.method === method) ?? this.offered[0];
  }

  /**
   * Show where it stands.
   * @param {string} method
   * @param {number} wanted radius
   * @param {Offer[]} offered
   * @param {boolean} brief there is room for the number alone
   */
  show(method, wanted, offered, brief = false) {
    this.offered = offered;
    const { stops, unit } = this.offerOf(method);
    this.list(method);
    this.method = method;
    this.wanted = wanted;
    this.stops = stops;
    const moves = stops.length > 1;
    this.radius.max = String(Math.max(1, stops.length - 1));
    this.radius.disabled = !moves;
    this.radius.value = String(nearest(stops, wanted));
    const text = moves ? `${short(wanted)} ${unit}${wanted === 0 ? " (= VI)" : ""}` : "none";
    const few = moves ? `radius ${short(wanted)}` : "no radius";
    this.text.textContent = brief ? few : text;
    this.radius.setAttribute("aria-valuetext", text);
  }

  /** Fill the menu of methods where it has changed. @param {string} method of now */
  list(method) {
    const key = this.offered.map((offer) => offer.method).join() + method;
    if (key === this.listed) return;
    this.listed = key;
    const options = this.offered.map((offer) => {
      const option = element("option", { value: offer.method }, offer.label);
      option.selected = offer.method === method;
      return option;
    });
    this.select.replaceChildren(...options);
  }
}

const PLAY_MS = 1200;
const GLIDE = { duration: 800, easing: "cubic-in-out" };

/** A button that goes through what `title` says, a step every `PLAY_MS`. */
export class Player {
  timer = 0;

  /**
   * @param {Next} next
   * @param {string} title
   */
  constructor(next, title) {
    this.next = next;
    this.button = button("Play", title, () => (this.timer ? this.halt() : this.go(true)));
  }

  /** How a picture glides to the next step; not where motion is not wanted. */
  get glide() {
    return this.timer && !STILL.matches ? GLIDE : undefined;
  }

  /** Take a step, and the next ones later. @param {boolean} first */
  go(first) {
    // before the step, which glides because there is a timer
    this.timer = setTimeout(() => this.go(false), PLAY_MS);
    if (!this.next(first)) this.halt();
    else this.button.textContent = "Pause";
  }

  /** Rest. */
  halt() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.button.textContent = "Play";
  }
}

/**
 * A menu of buttons.
 * @param {string} label
 * @param {[text: string, act: () => void][]} buttons
 */
export function menu(label, buttons) {
  const inside = element("div", {});
  const title = element("summary", {}, label);
  const node = element("details", { class: "fv-menu" }, title, inside);
  for (const [text, act] of buttons) {
    const chosen = () => {
      node.open = false;
      act();
    };
    inside.append(element("button", { type: "button", onclick: chosen }, text));
  }
  node.addEventListener("keydown", (e) => {
    if (e.key === "Escape") {
      node.open = false;
      title.focus();
    }
  });
  node.addEventListener("focusout", (e) => {
    const to = e.relatedTarget;
    if (to instanceof Node && !node.contains(to)) node.open = false;
  });
  return node;
}

/** The glossary. @type {Record<string, string>} */
const TERMS = {
  "λ₁": "the largest eigenvalue of the training loss's Hessian: how sharply the loss curves at most; low is flat",
  NLL: "negative log likelihood: mean of −log p of the right answers; low is good",
  ECE:
    "expected calibration error: how far confidence is from the share of right answers; low is " +
    "good",
  "q′": "a posterior near q; the worst one has the highest loss on average",
  KL: "Kullback-Leibler divergence: how far one distribution is from another, in nats",
  T: "temperature: the weight of the prior; 1 is Bayes' rule",
};

/**
 * Paragraphs of a section: **words** are bold, a line that begins with "= " is an equation in TeX,
 * and a term of the glossary is explained where it stands first, on hover or tap.
 * @param {string} text
 */
export function paragraphs(text) {
  const seen = new Set();
  /** @param {string} part */
  const explained = (part) =>
    part.split(/(λ₁|NLL|ECE|q′|KL|\bT\b)/).map((word, i) => {
      if (i % 2 === 0 || seen.has(word)) return word;
      seen.add(word);
      return element("abbr", { title: TERMS[word], tabindex: 0 }, word);
    });
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      if (line.startsWith("= "))
        return element("p", { class: "fv-equation" }, formula(line.slice(2)));
      return element(
        "p",
        {},
        ...line
          .split("**")
          .flatMap((part, i) => (i % 2 ? element("b", {}, ...explained(part)) : explained(part))),
      );
    });
}
