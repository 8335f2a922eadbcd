// ---- the article: the section in sight sets the controls
import { element } from "./elements.js";
import { paragraphs } from "./controls.js";

export class Article {
  page;
  story;

  // page: { el, stage, state, resting(), placed() }: resting, while nothing may follow the text.
  constructor(story, page) {
    // explored: the state in which the reader left the last section
    this.story = story;
    this.page = page;
    this.explored = null;
    this.rest = 0;
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

  get cover() {
    return this.page.el.clientWidth < 900 ? parseFloat(getComputedStyle(this.node).paddingTop) : 0;
  } // of the screen, by the pictures

  // The last section is to explore.
  reads({ step: at }) {
    return at >= 0 && at < this.story.length - 1;
  }

  inSight() {
    // the section being read, -1 for the last
    const { sections, cover } = this;
    const line = cover + 0.45 * (window.innerHeight - cover);
    const at = Math.max(
      0,
      sections.findLastIndex((s) => s.getBoundingClientRect().top < line),
    );
    return at < sections.length - 1 ? at : -1;
  }

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
      (at < 0 && this.explored) || { method, radius, n_draws, ...story.at(at).set, step: at },
    );
  }

  goTo() {
    // where the state says that the reader is
    const { step } = this.page.state.all;
    if (this.story.length && this.inSight() !== step)
      (this.sections[step] ?? this.page.stage).scrollIntoView();
  }
}
