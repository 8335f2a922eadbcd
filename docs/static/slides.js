// A chapter as slides (its address with ?slides): arrow keys, space and the buttons turn; the place
// stands in the address.
if (location.search === "?slides")
  addEventListener("DOMContentLoaded", () => {
    const LEFT_OUT = ["Exercises", "References"]; // sections that a class reads at home
    const ROOM = 8; // of a slide: a paragraph takes 1, what a cell prints 2, a figure almost all
    const FIGURES = ".fv-figure, .fv-live, .fv-lab";
    const article = document.querySelector("article.bd-article");
    /** @type {HTMLScriptElement | null} */
    const script = document.querySelector("script[src*='slides.js']");
    if (!article || !script) return;
    for (const fold of article.querySelectorAll("details.fv-fold")) {
      const [name, ...content] = fold.childNodes;
      fold.replaceWith(...name.childNodes, ...content);
    }
    article
      .querySelectorAll(
        "a.headerlink, .fv-run, .tag_parameters, .tag_hide-cell, details, button.copybtn",
      )
      .forEach((node) => node.remove());
    for (const code of article.querySelectorAll(".cell_input")) {
      // a class looks at what comes out: the code is below it, folded
      const folded = document.createElement("details");
      const name = document.createElement("summary");
      name.textContent = "code";
      folded.append(name);
      code.parentElement?.append(folded);
      folded.append(code);
    }
    /** How much of a slide a block takes. @param {Element} block */
    const weight = (block) =>
      block.querySelector(FIGURES) || block.matches(FIGURES)
        ? ROOM - 1
        : block.matches("ul, ol")
          ? 0.7 * block.querySelectorAll("li").length
          : block.matches(".cell:not(:has(.cell_output))")
            ? 0
            : block.tagName === "DIV"
              ? 2
              : 1;
    /** @type {Element[][]} */
    const slides = [];

    /**
     * A heading begins a slide, and where one is full the next has the same heading.
     * @param {Element} section
     */
    function split(section) {
      const heading = section.querySelector(":scope > :is(h1, h2, h3)");
      if (!heading || LEFT_OUT.includes(heading.textContent ?? "")) return;
      /** @type {Element[]} */
      let slide = [heading];
      let room = ROOM;
      const close = () => {
        if (slide.length > 1) slides.push(slide);
        const again = document.createElement("h2");
        again.textContent = heading.textContent;
        [slide, room] = [[again], ROOM];
      };
      for (const block of [...section.children]) {
        if (block === heading) continue;
        if (block.tagName === "SECTION" || weight(block) > room) close();
        if (block.tagName === "SECTION") split(block);
        else {
          slide.push(block);
          room -= weight(block);
        }
      }
      close();
    }
    const whole = article.querySelector("section");
    if (whole) split(whole);

    const main = document.createElement("main");
    const nav = document.createElement("nav");
    main.append(
      ...slides.map((blocks, i) => {
        const node = document.createElement("section");
        node.className = "slide";
        node.setAttribute("aria-label", `slide ${i + 1} of ${slides.length}`);
        node.append(...blocks);
        return node;
      }),
    );
    nav.setAttribute("aria-label", "slides");
    nav.innerHTML = `<a href="${location.pathname.split("/").at(-1)}">chapter</a> <button id="back" type="button">← back</button>
    <output id="place" aria-live="polite"></output> <button id="on" type="button">on →</button>`;
    // the theme's scripts look for what is in them
    for (const node of document.body.children) node.toggleAttribute("hidden", true);
    document.body.prepend(main, nav);
    document
      .querySelectorAll("link[rel=stylesheet]:not([href*=pygments], [href*=katex]), style")
      .forEach((node) => node.remove());
    const sheet = document.createElement("link");
    Object.assign(sheet, {
      rel: "stylesheet",
      href: script.src.replace(/slides\.js.*$/, "slides.css"),
    });
    document.head.append(sheet);

    const shown = /** @type {HTMLElement[]} */ ([...main.children]);
    const [back, on] = nav.querySelectorAll("button");
    const place = /** @type {HTMLOutputElement} */ (nav.querySelector("output"));
    let at = 0;

    /**
     * Draw what does not fit smaller, down to two thirds; what still does not fit scrolls. Figures
     * have their size already.
     */
    function fit() {
      const slide = shown[at];
      const blocks = [...slide.children].filter((block) => !block.querySelector(FIGURES));
      for (let size = 1; size > 0.6; size -= 0.06) {
        for (const block of blocks) /** @type {HTMLElement} */ (block).style.zoom = String(size);
        if (slide.scrollHeight <= slide.clientHeight + 2) return;
      }
    }
    addEventListener("resize", fit);

    /** To a slide. @param {number} to */
    function turn(to, remember = true) {
      at = Math.max(0, Math.min(shown.length - 1, to));
      shown.forEach((slide, i) => {
        slide.hidden = i !== at;
      });
      shown[at].tabIndex = 0; // a slide that is too long scrolls by keys
      place.textContent = `${at + 1} / ${shown.length}`;
      [back.disabled, on.disabled] = [at === 0, at === shown.length - 1];
      // formulas and figures come a little later
      for (const later of [0, 300, 1500]) setTimeout(fit, later);
      if (remember) history.replaceState(null, "", `#${at + 1}`);
    }

    back.addEventListener("click", () => turn(at - 1));
    on.addEventListener("click", () => turn(at + 1));
    addEventListener("keydown", (event) => {
      const { target } = event;
      if (!(target instanceof Element)) return;
      if (target.closest("input, select, textarea, summary, [role=slider]")) return;
      const step =
        { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key] ??
        (event.key === " " && target.tagName !== "BUTTON" ? 1 : 0);
      if (!step) return;
      event.preventDefault();
      turn(at + step);
    });
    addEventListener("hashchange", () => turn(Number(location.hash.slice(1) || 1) - 1, false));
    turn(Number(location.hash.slice(1) || 1) - 1, false);
  });
