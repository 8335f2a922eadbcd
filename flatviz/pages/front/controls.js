// ---- what stands above the pictures
import { button, element, short, STILL } from "./elements.js";
import { formula } from "./math.js";
import { nearest } from "./records.js";

// A menu of methods and a radius slider: of state A, or of B.  `change({method, radius})` hears
// what the reader does.
export class Side {
  method;
  wanted;
  stops;
  /** @type {any} */
  stopsOf;
  /** @type {any} */
  first;

  constructor(letter, change) {
    this.change = change;
    this.remembered = {}; // a radius never moves from one unit to another
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
      const at = this.stopsOf(method);
      change({
        method,
        radius: this.remembered[method] ?? this.first(method) ?? at[Math.ceil((at.length - 1) / 2)],
      });
    });
    this.radius.addEventListener("input", () =>
      change({ radius: this.stops[Number(this.radius.value)] }),
    );
  }

  // method, wanted: where it stands; offered: [[method, label, stops, unit, default radius]].
  // brief: there is room for the number alone.
  show(method, wanted, offered, brief = false) {
    const key = offered.map(([name, , stops]) => `${name}:${stops.length}`).join() + method;
    if (key !== this.key) {
      // the list itself changed
      this.key = key;
      this.stopsOf = (name) => offered.find((o) => o[0] === name)[2];
      this.first = (name) => offered.find((o) => o[0] === name)[4];
      this.select.replaceChildren(
        ...offered.map(([name, label]) => {
          const option = element("option", { value: name }, label);
          option.selected = name === method;
          return option;
        }),
      );
    }
    this.method = method;
    this.wanted = wanted;
    this.stops = this.stopsOf(method);
    this.radius.max = Math.max(1, this.stops.length - 1);
    this.radius.disabled = this.stops.length < 2;
    this.radius.value = nearest(this.stops, wanted);
    const unit = offered.find((o) => o[0] === method)[3];
    const text =
      this.stops.length < 2 ? "none" : `${short(wanted)} ${unit}${wanted === 0 ? " (= VI)" : ""}`;
    this.text.textContent = !brief
      ? text
      : this.stops.length < 2
        ? "no radius"
        : `radius ${short(wanted)}`;
    this.radius.setAttribute("aria-valuetext", text);
  }
}

const PLAY_MS = 1200;
const GLIDE = { duration: 800, easing: "cubic-in-out" };

// A button that goes through what `title` says, a step every `PLAY_MS`: next(first) takes one and
// says whether there was one.
export class Player {
  next;

  constructor(next, title) {
    this.next = next;
    this.timer = 0;
    this.button = button("Play", title, () => (this.timer ? this.halt() : this.go(true)));
  }

  get glide() {
    return this.timer && !STILL.matches ? GLIDE : undefined;
  }

  go(first) {
    // before the step, which glides because there is a timer
    this.timer = setTimeout(() => this.go(false), PLAY_MS);
    if (!this.next(first)) this.halt();
    else this.button.textContent = "Pause";
  }

  halt() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.button.textContent = "Play";
  }
}

// A menu of buttons: [[text, action]].
export function menu(label, buttons) {
  const inside = element("div", {});
  const node = element("details", { class: "fv-menu" }, element("summary", {}, label), inside);
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
      node.firstChild.focus();
    }
  });
  node.addEventListener("focusout", (e) => {
    if (e.relatedTarget && !node.contains(e.relatedTarget)) node.open = false;
  });
  return node;
}

// Plain text in which **words** are bold and a line that begins with "= " is an equation in TeX.
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

// Paragraphs of a section; a term of the glossary is explained where it stands first, on hover or
// tap.
export function paragraphs(text) {
  const seen = new Set();
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
