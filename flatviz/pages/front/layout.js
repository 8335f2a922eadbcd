// ---- pictures in frames, and the room that each gets
import { element } from "./elements.js";
import { ALL } from "./state.js";

export const optionOf = (entry) => Object.values(entry.option).join(", ");

// A place on the page for one picture or for alternatives, with menus of them and a caption.
export class Frame {
  entries;
  choose;
  menus;
  slot;

  // choose(option): the reader picks an alternative.
  constructor(entry, choose) {
    this.pair = element("div", { class: "fv-pair" });
    this.caption = element("p");
    this.about = element(
      "details",
      { open: "" },
      element("summary", {}, "What is this?"),
      this.caption,
    );
    this.choice = element("div", { class: "fv-choice", hidden: "" });
    this.node = element(
      "figure",
      {},
      this.choice,
      this.pair,
      element("figcaption", {}, this.about),
    );
    this.slot = entry.slot;
    this.group = entry.group;
    this.span = entry.span;
    this.least = entry.least;
    this.choose = choose;
    this.entries = [];
    this.menus = {};
    this.made = {};
    this.shown = "";
  }

  add(entry) {
    this.entries.push(entry);
    this.choice.hidden = this.entries.length < 2;
  }

  // A menu for each name of the options that has alternatives; chosen(): of the state.
  offer(chosen) {
    for (const name of Object.keys(this.entries[0].option)) {
      const values = [...new Set(this.entries.map((e) => e.option[name]))];
      const menu = element(
        "select",
        { "aria-label": `${name} of this picture` },
        ...values.map((v) => element("option", { value: v }, v)),
      );
      menu.addEventListener("change", () => {
        // the others stay, as far as there is such a picture
        const here = this.entry(chosen()).option;
        const like = (e) => Object.keys(here).filter((k) => e.option[k] === here[k]).length;
        const able = this.entries.filter((e) => e.option[name] === menu.value);
        this.choose(optionOf(able.reduce((best, e) => (like(e) > like(best) ? e : best))));
      });
      this.menus[name] = menu;
      if (values.length > 1) this.choice.append(menu);
    }
  }

  entry(chosen) {
    return this.entries.find((e) => optionOf(e) === chosen[this.slot]) ?? this.entries[0];
  }
}

// Columns and heights by the room there is.
export class Layout {
  page;
  frames;
  tallest;

  // page: { el, grid, head, stage, note, tabs, compare, undo, names, article, printing() }
  constructor(frames, page) {
    this.frames = frames;
    this.page = page;
    this.tallest = new Map();
  }

  tabOf({ tab }) {
    const { names, printing } = this.page;
    return printing() ? ALL : names.includes(tab) ? tab : names[0];
  }

  inTab(frame, tab) {
    return tab === ALL || frame.group === tab;
  }

  reads(now) {
    return this.page.article.reads(now) && !this.page.printing();
  }

  get narrow() {
    return this.page.el.clientWidth < 640 && !this.page.printing();
  }

  get screen() {
    return (
      this.page.el.closest(".jp-Notebook, .jp-WindowedPanel-outer")?.clientHeight ||
      window.innerHeight
    );
  }

  // Of twelve columns a frame's share among those shown, so that a row is full and each has what it
  // needs.
  spread(frame, shown) {
    const added = (values) => values.reduce((s, v) => s + v, 0);
    const sum = added(shown.map((g) => g.span));
    const need = shown.map((g) => Math.ceil((12 * g.least) / this.page.grid.clientWidth));
    let wide = shown.map((g) => Math.max(3, Math.round((12 * g.span) / sum)));
    if (wide.some((w, i) => w < need[i]) && added(need) <= 12 && need.every(Boolean)) wide = need;
    wide[wide.length - 1] += 12 - added(wide);
    return wide[shown.indexOf(frame)];
  }

  arrange(now) {
    const { page, frames } = this;
    const {
      el,
      grid,
      tabs,
      compare,
      undo,
      names,
      article: { story },
    } = page;
    const printing = page.printing();
    const width = el.clientWidth;
    const tab = this.tabOf(now);
    const reading = this.reads(now);
    const wide = width >= 900;
    let shown = frames.filter((f) => this.inTab(f, tab));
    const classes = {
      narrow: width < 640 || printing,
      beside: wide && !printing,
      above: !wide && !printing,
      two: now.b,
      reads: reading,
      story: story.length && !printing,
    };
    for (const [name, on] of Object.entries(classes))
      el.classList.toggle(`fv-${name}`, Boolean(on));
    for (const node of [tabs, compare, undo])
      node.hidden = reading || (node === tabs && names.length < 2);
    const tight = (f) => (grid.clientWidth * this.spread(f, shown)) / 12 < f.least;
    if (reading && (!wide || now.b || shown.some(tight))) {
      // one picture: that of which the text speaks
      shown = [
        shown.find((f) => f.entries.some((e) => e.name === story[now.step].set?.see)) ?? shown[0],
      ];
    }
    const all = shown.reduce((sum, f) => sum + f.span, 0);
    const row = tab !== ALL && (all <= 12 || shown.length < 3) && !now.b;
    const below = row && shown.some(tight);
    const halves = width < 1000 || now.b;
    // all pictures: as many a line as there is room for, and no hole at its end
    /** @type {any[][]} */ const lines = [[]];
    const share = (f, line) => (halves ? 12 / line.length : this.spread(f, line));
    for (const f of shown) {
      const line = [...(lines.at(-1) ?? []), f];
      const few = line.some((g) => (grid.clientWidth * share(g, line)) / 12 < g.least);
      if (line.length > 1 && (few || line.reduce((sum, g) => sum + (halves ? 6 : g.span), 0) > 12))
        lines.push([]);
      lines.at(-1)?.push(f);
    }
    const filled = (f) => share(f, lines.find((line) => line.includes(f)) ?? [f]);
    const tap = width < 640 && !printing;
    for (const f of frames) {
      // captions on tap, where a picture takes the whole width
      if (f.tap !== tap) Object.assign(f, { tap }).about.open = !tap;
      f.node.hidden = !shown.includes(f);
      if (reading && !wide && now.b) f.pair.tabIndex = 0;
      else f.pair.removeAttribute("tabindex"); // A and B stand in a row that is scrolled
      f.node.style.gridColumn =
        (now.b || below) && tab !== ALL
          ? "span 12"
          : row
            ? `span ${this.spread(f, shown)}`
            : `span ${filled(f)}`;
    }
  }

  // Of what stands above pictures or below them, px: of the tallest that it was in this place, for
  // a line of its text more or less
  // must not draw every picture anew.
  tall(node, now) {
    const { el, note } = this.page;
    const place = [el.clientWidth, Boolean(now.b), this.reads(now), note.textContent].join();
    const was = this.tallest.get(node);
    const px = node.hidden ? 0 : Math.max(node.offsetHeight, was?.place === place ? was.px : 0);
    this.tallest.set(node, { place, px });
    return px;
  }

  // Of a frame's picture, so that bar and picture are on one screen.
  height(now, frame) {
    const { el, head, stage } = this.page;
    const printing = this.page.printing();
    const tall = (node) => this.tall(node, now);
    const { height: own, layout } = frame.entry(now.chosen);
    const { screen } = this;
    const reading = this.reads(now);
    if (reading && el.clientWidth < 900)
      return (
        stage.clientHeight - tall(head) - tall(frame.about.firstChild) - tall(frame.choice) - 24
      );
    const several = Object.keys(layout).filter((key) => /^[xy]axis/.test(key)).length > 2;
    if (now.b && this.narrow)
      // A above B on one screen
      return several ? 440 : Math.max(230, Math.round((screen - tall(head) - 40) / 2));
    const least = 300;
    if (printing) return own;
    if (this.tabOf(now) === ALL) return Math.max(least, Math.min(own, screen - tall(head) - 40));
    // the page's title and introduction
    const title = el.closest(".jp-Notebook") ? 0 : el.getBoundingClientRect().top + window.scrollY;
    const under = (f) =>
      // a caption of four lines, which a pair leaves out
      reading ? tall(f.choice) + tall(f.caption) : now.b ? 36 : 80;
    const below =
      24 +
      // the article's pictures are whole on the screen
      (reading ? Math.max(...this.frames.filter((f) => !f.node.hidden).map(under)) : under(frame));
    const room =
      screen -
      tall(head) -
      Math.max(below, el.clientWidth >= 1000 && title < 0.3 * screen ? title + 48 : 0);
    return Math.round(Math.max(least, Math.min(now.b ? 440 : 560, room)));
  }
}
