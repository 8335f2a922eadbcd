// The playground in an element: the two-weight world, the step, the network, the gap, or those that
// `options.worlds` names.
import { isDark, onThemeChange } from "../front/colors.js";
import { element } from "../front/elements.js";
import { keepKeys } from "../front/keys.js";
import { NetworkWorld } from "./network.js";
import STYLE from "./playground.css";
import { StepView } from "./step.js";
import { World } from "./world.js";

/** @import { Options } from "./types.d.ts" */

/**
 * @typedef {{ weights?: World, step?: StepView, network?: NetworkWorld, gap?: NetworkWorld }}
 *   Worlds
 */

const ALL = ["weights", "step", "network", "gap"];
const LATER_MS = 50;
const GAP = {
  kind: "gap",
  label: "a regression with a gap",
  methods: ["vi", "sabma", "hmc"],
  planes: false,
  settings: { radius: 1, kappa: 1 },
};
const STEP_TEXT = "The next step of SA-BMA's cloud on the ground above, once its run rests.";
const NETWORK_TEXT =
  "The same two methods train a network. Where it is flat, the rings of the loss around the draws " +
  "are wide. On spirals the flatter training mostly has the lower test loss as well; on the moons " +
  "it is a matter of the seed. Click on a picture to add a point.";
const GAP_TEXT =
  "No points lie in the middle, so an honest answer is unsure there. HMC, Hamiltonian Monte Carlo, " +
  "draws from the exact posterior, if it runs long enough: its band is narrow at the points and " +
  "wide between them. VI and SA-BMA fit one Gaussian: after some hundred steps their bands are too " +
  "wide at the points and widen less in the middle.";

/**
 * Show the playground in an element. Returns what stops it from following the page's theme.
 * @param {HTMLElement} el
 * @param {Options} options
 */
export function mount(el, options = {}) {
  const root = element("div", { class: "pg" });
  keepKeys(root);
  root.append(element("style", {}, STYLE));
  const said = new URLSearchParams(options.link === false ? "" : location.search);
  const embedded = said.has("embed");
  const all = options.worlds ?? ALL;
  const worlds = new Set(embedded ? all.slice(0, 1) : all);
  /** @type {Worlds} */
  const made = {};
  document.documentElement.classList.toggle("pg-embedded", embedded);
  const section = (
    /** @type {string} */ title,
    /** @type {string} */ text,
    /** @type {HTMLElement} */ content,
  ) => root.append(element("h2", {}, title), element("p", {}, text), content);
  if (worlds.has("weights") || worlds.has("step")) {
    made.weights = new World(options);
    root.append(made.weights.node);
  }
  // What stands further down is built once the first world can be seen.
  const later = () => {
    if (worlds.has("step") && made.weights) {
      made.step = new StepView(made.weights);
      section("One step of SA-BMA", STEP_TEXT, made.step.node);
    }
    if (worlds.has("network")) {
      made.network = new NetworkWorld(options);
      section("A network of about fifty weights", NETWORK_TEXT, made.network.node);
    }
    if (worlds.has("gap")) {
      made.gap = new NetworkWorld({ ...options, ...GAP });
      section("A regression with a gap", GAP_TEXT, made.gap.node);
    }
    Object.assign(root, { playground: made }); // for tests, and for who opens the console
  };
  const theme = () => {
    root.dataset.theme = isDark() ? "dark" : "light";
    for (const world of Object.values(made)) world.recolor();
  };
  el.replaceChildren(root);
  theme();
  if (made.weights) setTimeout(later, LATER_MS);
  else later();
  return onThemeChange(theme);
}

/** The playground as a widget of a notebook: `worlds` is a trait of its model. */
export default {
  /** @param {{ model: { get(name: "worlds"): string[] }, el: HTMLElement }} given */
  render: ({ model, el }) =>
    mount(el, { worlds: model.get("worlds"), autoplay: false, link: false }),
};
