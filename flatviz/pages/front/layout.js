// ---- the room that each picture gets: columns and heights
import { axesOf } from "./room.js";
import { ALL } from "./state.js";

/** @import { Controls, Now } from "./types.d.ts" */
/** @import { Explorer } from "./explorer.js" */
/** @import { Frame } from "./frames.js" */

const NARROW = 640; // px of a page: one column, captions on tap
const WIDE = 900; // px: the article stands beside the pictures
const COLUMNS = 12;
const LEAST = 300; // px of a picture

/** The sum of numbers. @param {number[]} values */
const added = (values) => values.reduce((sum, v) => sum + v, 0);

/** Columns and heights by the room there is. */
export class Layout {
  /** @type {Map<HTMLElement, { place: string, px: number }>} */
  tallest = new Map();

  /** @param {Explorer} page */
  constructor(page) {
    this.page = page;
  }

  /** The tab that is shown. @param {Controls} now */
  tabOf({ tab }) {
    const { bar, printing } = this.page;
    if (printing) return ALL;
    return bar.names.includes(tab) ? tab : bar.names[0];
  }

  /**
   * Whether a frame stands in a tab.
   * @param {Frame} frame
   * @param {string} tab
   */
  inTab(frame, tab) {
    return tab === ALL || frame.group === tab;
  }

  /** Whether the reader reads the article. @param {Controls} now */
  reads(now) {
    return this.page.article.reads(now) && !this.page.printing;
  }

  /** Whether the page is that of a phone. */
  get narrow() {
    return this.page.el.clientWidth < NARROW && !this.page.printing;
  }

  /** Height of what is seen at once, px. */
  get screen() {
    const notebook = this.page.el.closest(".jp-Notebook, .jp-WindowedPanel-outer");
    return notebook?.clientHeight || window.innerHeight;
  }

  /** Width of the pictures when a frame has so many columns, px. @param {number} columns */
  px(columns) {
    return (this.page.grid.clientWidth * columns) / COLUMNS;
  }

  /**
   * Of twelve columns a frame's share among those shown, so that a row is full and each has what it
   * needs.
   * @param {Frame} frame
   * @param {Frame[]} shown
   */
  spread(frame, shown) {
    const sum = added(shown.map(({ span }) => span));
    const { clientWidth } = this.page.grid;
    const need = shown.map(({ least }) => Math.ceil((COLUMNS * least) / clientWidth));
    let wide = shown.map(({ span }) => Math.max(3, Math.round((COLUMNS * span) / sum)));
    const tight = wide.some((columns, i) => columns < need[i]);
    if (tight && added(need) <= COLUMNS && need.every(Boolean)) wide = need;
    wide[wide.length - 1] += COLUMNS - added(wide);
    return wide[shown.indexOf(frame)];
  }

  /** Show the frames of this state, each in its columns. @param {Now} now */
  arrange(now) {
    const { el, frames, bar, article, printing } = this.page;
    const { story } = article;
    const width = el.clientWidth;
    const tab = this.tabOf(now);
    const reading = this.reads(now);
    const wide = width >= WIDE;
    const classes = {
      narrow: width < NARROW || printing,
      beside: wide && !printing,
      above: !wide && !printing,
      two: now.b,
      reads: reading,
      story: story.length && !printing,
    };
    for (const [name, on] of Object.entries(classes))
      el.classList.toggle(`fv-${name}`, Boolean(on));
    for (const node of [bar.tabs, bar.compare, bar.undo])
      node.hidden = reading || (node === bar.tabs && bar.names.length < 2);
    let shown = frames.filter((frame) => this.inTab(frame, tab));
    const tight = (/** @type {Frame} */ frame) => this.px(this.spread(frame, shown)) < frame.least;
    if (reading && (!wide || now.b || shown.some(tight))) {
      // one picture: that of which the text speaks
      const { see } = story[now.step].set ?? {};
      const spoken = shown.find(({ entries }) => entries.some(({ name }) => name === see));
      shown = [spoken ?? shown[0]];
    }
    const columns = this.columnsOf(shown, now, tab);
    const tap = width < NARROW && !printing;
    for (const frame of frames) {
      // captions on tap, where a picture takes the whole width
      if (frame.tap !== tap) frame.about.open = !tap;
      frame.tap = tap;
      frame.node.hidden = !shown.includes(frame);
      if (reading && !wide && now.b) frame.pair.tabIndex = 0;
      else frame.pair.removeAttribute("tabindex"); // A and B stand in a row that is scrolled
      frame.node.style.gridColumn = `span ${columns(frame)}`;
    }
  }

  /**
   * How many columns each frame has: in a tab with few pictures they stand in a row, or one below
   * the other; else as many a line as there is room for, and no hole at its end.
   * @param {Frame[]} shown
   * @param {Now} now
   * @param {string} tab
   * @returns {(frame: Frame) => number}
   */
  columnsOf(shown, { b }, tab) {
    const all = added(shown.map(({ span }) => span));
    const row = tab !== ALL && (all <= COLUMNS || shown.length < 3) && !b;
    const tight = (/** @type {Frame} */ frame) => this.px(this.spread(frame, shown)) < frame.least;
    if (tab !== ALL && (b || (row && shown.some(tight)))) return () => COLUMNS;
    if (row) return (frame) => this.spread(frame, shown);
    const halves = this.page.el.clientWidth < 1000 || Boolean(b);
    const share = (/** @type {Frame} */ frame, /** @type {Frame[]} */ line) =>
      halves ? COLUMNS / line.length : this.spread(frame, line);
    /** @type {Frame[][]} */
    const lines = [];
    /** @type {Frame[]} */
    let last = [];
    for (const frame of shown) {
      const line = [...last, frame];
      const few = line.some((one) => this.px(share(one, line)) < one.least);
      const full = added(line.map(({ span }) => (halves ? COLUMNS / 2 : span))) > COLUMNS;
      if (line.length > 1 && !few && !full) last.push(frame);
      else {
        last = [frame];
        lines.push(last);
      }
    }
    return (frame) => share(frame, lines.find((line) => line.includes(frame)) ?? [frame]);
  }

  /**
   * Height of what stands above pictures or below them, px: of the tallest that it was in this
   * place, for a line of its text more or less must not draw every picture anew.
   * @param {HTMLElement} node
   * @param {Now} now
   */
  tall(node, now) {
    const { el, bar } = this.page;
    const text = bar.work.note.textContent;
    const place = [el.clientWidth, Boolean(now.b), this.reads(now), text].join();
    const was = this.tallest.get(node);
    const before = was?.place === place ? was.px : 0;
    const px = node.hidden ? 0 : Math.max(node.offsetHeight, before);
    this.tallest.set(node, { place, px });
    return px;
  }

  /**
   * Height of a frame's picture, so that bar and picture are on one screen.
   * @param {Now} now
   * @param {Frame} frame
   */
  height(now, frame) {
    const { el, bar, stage, printing, frames } = this.page;
    const tall = (/** @type {HTMLElement} */ node) => this.tall(node, now);
    const { height: own, layout } = frame.entry(now.chosen);
    const { screen } = this;
    const reading = this.reads(now);
    const head = tall(bar.node);
    if (reading && el.clientWidth < WIDE)
      return stage.clientHeight - head - tall(frame.question) - tall(frame.choice) - 24;
    if (now.b && this.narrow)
      // A above B on one screen
      return axesOf(layout).length > 2 ? 440 : Math.max(230, Math.round((screen - head - 40) / 2));
    if (printing) return own;
    if (this.tabOf(now) === ALL) return Math.max(LEAST, Math.min(own, screen - head - 40));
    // the page's title and introduction
    const title = el.closest(".jp-Notebook") ? 0 : el.getBoundingClientRect().top + window.scrollY;
    // a caption of four lines, which a pair leaves out
    const caption = now.b ? 36 : 80;
    const under = (/** @type {Frame} */ one) =>
      reading ? tall(one.choice) + tall(one.caption) : caption;
    // the article's pictures are whole on the screen
    const seen = reading ? frames.filter(({ node }) => !node.hidden) : [frame];
    const below = 24 + Math.max(...seen.map(under));
    const introduced = el.clientWidth >= 1000 && title < 0.3 * screen ? title + 48 : 0;
    const room = screen - head - Math.max(below, introduced);
    return Math.round(Math.max(LEAST, Math.min(now.b ? 440 : 560, room)));
  }
}
