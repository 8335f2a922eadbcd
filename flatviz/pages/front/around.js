// ---- the world around: window, theme, print, the address
import { onThemeChange } from "./colors.js";
import { draw } from "./drawing.js";

export function listen(page) {
  const { el, state, model, article } = page;
  const heard = [];
  let width = 0;
  const hear = (target, event, act, how) => {
    target.addEventListener(event, act, how);
    heard.push(() => target.removeEventListener(event, act));
  };
  const traits = ["radius", "n_draws", "method", "look"].map((t) => `change:${t}`);
  for (const trait of traits) model.on(trait, page.schedule);
  const watcher = new ResizeObserver(() => {
    // of a window, or of a panel of JupyterLab
    if (page.stopped || !el.clientWidth) return;
    if (el.clientWidth !== width) {
      width = el.clientWidth;
      page.placed = false;
      page.layout.arrange(page.current());
      page.schedule();
    }
    page.pictures.forEach((p) => p.resize());
    page.mark();
  });
  [el, page.grid].forEach((node) => watcher.observe(node));
  heard.push(
    onThemeChange(page.schedule),
    () => watcher.disconnect(),
    () => traits.forEach((trait) => model.off?.(trait, page.schedule)),
  );
  hear(window, "beforeprint", () => print(page, true));
  hear(window, "afterprint", () => print(page, false));
  hear(window, "resize", page.schedule);
  if (article.story.length) hear(window, "scroll", article.scrolled, { passive: true });
  if (page.hash) {
    hear(window, "hashchange", () => {
      if (location.hash !== state.hash) {
        state.read(location.hash);
        page.placed = false;
      }
    });
    if (location.hash.length > 1) state.read(location.hash);
  }
  page.forget = () => heard.forEach((end) => end());
}

export function print(page, on) {
  page.printing = on;
  page.el.style.width = on ? "660px" : "";
  draw(page);
  if (on) page.pictures.forEach((p) => p.resize());
}
