// ---- the article: the section in sight sets the controls
import { element } from "./elements.js";
import { paragraphs } from "./controls.js";

/** @import { Controls, Section } from "./types.d.ts" */
/** @import { State } from "./state.js" */

/**
 * What the article needs of its page; resting: while nothing may follow the text.
 * @typedef {{ el: HTMLElement, stage: HTMLElement, state: State, resting: () => boolean }}
 *   ArticlePage
 */

/** The article beside the pictures: the section in sight sets the controls. */
export class Article {
  /** @type {Controls | null} */
  explored = null; // the state in which the reader left the last section
  rest = 0; // timer, until the page rests

  /**
   * @param {Section[]} story
   * @param {ArticlePage} page
   */
  constructor(story, page) {
    this.story = story;
    this.page = page;
    this.sections = story.map((s) =>
      element("section", {}, element("h2", {}, s.title), ...paragraphs(s.text)),
    );
    this.node = element("article", { class: "fv-article" }, ...this.sections);
    this.node.hidden = !story.length;
    this.scrolled = () => {
      clearTimeout(this.rest);
      this.rest = setTimeout(() => this.follow(), 120);
    };
  }

  /** How much of the screen the pictures cover, px. */
  get cover() {
    return this.page.el.clientWidth < 900 ? parseFloat(getComputedStyle(this.node).paddingTop) : 0;
  }

  /**
   * Whether the reader reads: the last section is to explore.
   * @param {Pick<Controls, "step">} now
   */
  reads({ step: at }) {
    return at >= 0 && at < this.story.length - 1;
  }

  /** The section being read, -1 for the last. */
  inSight() {
    const { sections, cover } = this;
    const line = cover + 0.45 * (window.innerHeight - cover);
    const at = Math.max(
      0,
      sections.findLastIndex((s) => s.getBoundingClientRect().top < line),
    );
    return at < sections.length - 1 ? at : -1;
  }

  /** Set the controls to the section in sight. */
  follow() {
    const {
      page: { state, resting },
      story,
    } = this;
    const at = this.inSight();
    const now = state.all;
    if (resting() || at === now.step) return;
    if (now.step < 0) this.explored = now;
    const { method, radius, n_draws } = state.start;
    // a section is in the state of which it speaks, whatever was chosen in another
    state.acted({ step: at });
    state.put(
      (at < 0 && this.explored) || { method, radius, n_draws, ...story.at(at)?.set, step: at },
    );
  }

  /** Scroll to where the state says that the reader is. */
  goTo() {
    // where the state says that the reader is
    const { step } = this.page.state.all;
    if (this.story.length && this.inSight() !== step)
      (this.sections[step] ?? this.page.stage).scrollIntoView();
  }
}
