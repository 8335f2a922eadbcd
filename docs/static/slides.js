// One slide at a time: arrow keys, space and the buttons turn; the place stands in the address, so a slide can be linked.
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
theme();
dark.addEventListener("change", theme);

const slides = [...document.querySelectorAll(".slide")];
const button = { back: document.getElementById("back"), on: document.getElementById("on") };
let at = 0;

// What does not fit is drawn smaller, down to two thirds; what still does not fit scrolls.  Figures have their size already.
function fit() {
  const slide = slides[at], blocks = [...slide.children].filter((block) => !block.querySelector(".fv-figure, .fv-live, .fv-lab"));
  for (let size = 1; size > 0.6; size -= 0.06) {
    for (const block of blocks) block.style.zoom = size;
    if (slide.scrollHeight <= slide.clientHeight + 2) return;
  }
}
addEventListener("resize", fit);

function turn(to, remember = true) {
  at = Math.max(0, Math.min(slides.length - 1, to));
  slides.forEach((slide, i) => { slide.hidden = i !== at; });
  slides[at].tabIndex = 0;                                  // a slide that is too long scrolls by keys
  document.getElementById("place").textContent = `${at + 1} / ${slides.length}`;
  button.back.disabled = at === 0;
  button.on.disabled = at === slides.length - 1;
  for (const later of [0, 300, 1500]) setTimeout(fit, later);  // formulas and figures come a little later
  if (remember) history.replaceState(null, "", `#${at + 1}`);
}

button.back.addEventListener("click", () => turn(at - 1));
button.on.addEventListener("click", () => turn(at + 1));
addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea, summary, [role=slider]")) return;
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key] ?? (event.key === " " && event.target.tagName !== "BUTTON" ? 1 : 0);
  if (!step) return;
  event.preventDefault();
  turn(at + step);
});
addEventListener("hashchange", () => turn(Number(location.hash.slice(1) || 1) - 1, false));
turn(Number(location.hash.slice(1) || 1) - 1, false);
