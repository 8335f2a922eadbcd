// ---- pictures in frames: alternatives share one
import { element } from "./elements.js";

/** @import { AnyPicture, Entry } from "./types.d.ts" */

/** The options of an alternative as one text, by which the state knows it. @param {Entry} entry */
const optionOf = ({ option }) => Object.values(option).join(", ");

/** A place on the page for one picture or for alternatives, with menus of them and a caption. */
export class Frame {
  /** @type {Entry[]} */
  entries = [];
  /** @type {Record<string, HTMLSelectElement>} */
  menus = {}; // by the name of the option
  /** @type {Record<string, AnyPicture>} */
  made = {}; // by the name of the entry and the letter of the state
  shown = ""; // which of them
  /** @type {boolean | null} */
  tap = null; // whether the caption is shown on tap

  /**
   * @param {Entry} entry
   * @param {(option: string) => void} choose the reader picks an alternative
   */
  constructor({ slot, group, span, least }, choose) {
    this.slot = slot;
    this.group = group;
    this.span = span;
    this.least = least;
    this.choose = choose;
    this.pair = element("div", { class: "fv-pair" });
    this.caption = element("p");
    this.question = element("summary", {}, "What is this?");
    this.about = element("details", { open: "" }, this.question, this.caption);
    this.choice = element("div", { class: "fv-choice", hidden: "" });
    const caption = element("figcaption", {}, this.about);
    this.node = element("figure", {}, this.choice, this.pair, caption);
  }

  /** Take another alternative. @param {Entry} entry */
  add(entry) {
    this.entries.push(entry);
    this.choice.hidden = this.entries.length < 2;
  }

  /**
   * A menu for each name of the options that has alternatives.
   * @param {() => Record<string, string>} chosen of the state
   */
  offer(chosen) {
    for (const name of Object.keys(this.entries[0].option)) {
      const values = [...new Set(this.entries.map(({ option }) => option[name]))];
      const menu = element(
        "select",
        { "aria-label": `${name} of this picture` },
        ...values.map((value) => element("option", { value }, value)),
      );
      menu.addEventListener("change", () => this.pick(name, menu.value, chosen()));
      this.menus[name] = menu;
      if (values.length > 1) this.choice.append(menu);
    }
  }

  /**
   * Choose the alternative with this option; the others stay, as far as there is such a picture.
   * @param {string} name
   * @param {string} value
   * @param {Record<string, string>} chosen
   */
  pick(name, value, chosen) {
    const here = this.entry(chosen).option;
    const like = (/** @type {Entry} */ { option }) =>
      Object.keys(here).filter((k) => option[k] === here[k]).length;
    const able = this.entries.filter(({ option }) => option[name] === value);
    this.choose(optionOf(able.reduce((best, one) => (like(one) > like(best) ? one : best))));
  }

  /** The alternative that is chosen. @param {Record<string, string>} chosen */
  entry(chosen) {
    return this.entries.find((entry) => optionOf(entry) === chosen[this.slot]) ?? this.entries[0];
  }
}
