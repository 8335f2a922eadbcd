// ---- the world around: window, theme, print, the address
import { onThemeChange } from "./colors.js";
import { draw } from "./drawing.js";

/** @import { Explorer } from "./explorer.js" */

const PAPER = "660px"; // width of the page on paper

/** Follow what happens around a page, until it forgets that. @param {Explorer} page */
export function listen(page) {
  const { el, grid, state, model, article } = page;
  /** @type {(() => void)[]} */
  const ends = [];
  let width = 0;
  const hear = (
    /** @type {string} */ event,
    /** @type {() => void} */ act,
    /** @type {AddEventListenerOptions} */ how = {},
  ) => {
    window.addEventListener(event, act, how);
    ends.push(() => window.removeEventListener(event, act));
  };
  const traits = ["radius", "n_draws", "method", "look"].map((trait) => `change:${trait}`);
  for (const trait of traits) model.on(trait, page.schedule);
  ends.push(() => traits.forEach((trait) => model.off?.(trait, page.schedule)));
  // of a window, or of a panel of JupyterLab
  const watcher = new ResizeObserver(() => {
    if (page.stopped || !el.clientWidth) return;
    if (el.clientWidth !== width) {
      width = el.clientWidth;
      page.placed = false;
      page.layout.arrange(page.current());
      page.schedule();
    }
    for (const picture of page.pictures) picture.resize();
    page.mark();
  });
  for (const node of [el, grid]) watcher.observe(node);
  ends.push(() => watcher.disconnect());
  ends.push(onThemeChange(page.schedule));
  hear("beforeprint", () => print(page, true));
  hear("afterprint", () => print(page, false));
  hear("resize", page.schedule);
  if (article.story.length) hear("scroll", article.scrolled, { passive: true });
  if (page.hash) {
    hear("hashchange", () => {
      if (location.hash === state.hash) return;
      state.read(location.hash);
      page.placed = false;
    });
    if (location.hash.length > 1) state.read(location.hash);
  }
  page.forget = () => ends.forEach((end) => end());
}

/**
 * Draw a page for paper, or for the screen again.
 * @param {Explorer} page
 * @param {boolean} on
 */
function print(page, on) {
  page.printing = on;
  page.el.style.width = on ? PAPER : "";
  draw(page);
  if (on) for (const picture of page.pictures) picture.resize();
}
