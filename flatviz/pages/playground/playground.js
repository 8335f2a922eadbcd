// The playground in an element: the two-weight world, the step, the network, the gap, or those that
// `options.worlds` names.
import { element } from "../front/elements.js";
import { isDark, onThemeChange } from "../front/colors.js";
import { keepKeys } from "../front/keys.js";
import { NetworkWorld } from "./network.js";
import STYLE from "./playground.css";
import { StepView } from "./step.js";
import { World } from "./world.js";

const GAP = {
  kind: "gap",
  label: "a regression with a gap",
  methods: ["vi", "sabma", "hmc"],
  planes: false,
  settings: { radius: 1, kappa: 1 },
};

export function mount(el, options = {}) {
  const root = element("div", { class: "pg" });
  keepKeys(root);
  root.append(element("style", {}, STYLE));
  const said = new URLSearchParams(options.link === false ? "" : location.search),
    embedded = said.has("embed");
  const made = {},
    all = options.worlds ?? ["weights", "step", "network", "gap"],
    worlds = new Set(embedded ? all.slice(0, 1) : all);
  document.documentElement.classList.toggle("pg-embedded", embedded);
  const section = (title, text, content) =>
    root.append(element("h2", {}, title), ...text.map((line) => element("p", {}, line)), content);
  if (worlds.has("weights") || worlds.has("step")) {
    made.weights = new World(options);
    root.append(made.weights.node);
  }
  // What stands further down is built once the first world can be seen.
  const later = () => {
    if (worlds.has("step")) {
      made.step = new StepView(made.weights);
      section(
        "One step of SA-BMA",
        ["The next step of SA-BMA's cloud on the ground above, once its run rests."],
        made.step.node,
      );
    }
    if (worlds.has("network")) {
      made.network = new NetworkWorld(options);
      section(
        "A network of about fifty weights",
        [
          "The same two methods train a network. Where it is flat, the rings of the loss around " +
            "the draws are wide. " +
            "On spirals the flatter training mostly has the lower test loss as well; on the " +
            "moons it is a matter of the seed. Click on a picture to add a point.",
        ],
        made.network.node,
      );
    }
    if (worlds.has("gap")) {
      made.gap = new NetworkWorld({ ...options, ...GAP });
      section(
        "A regression with a gap",
        [
          "No points lie in the middle, so an honest answer is unsure there. HMC, Hamiltonian " +
            "Monte Carlo, draws from the exact posterior, if it runs long enough: its band is " +
            "narrow at the points and wide between them. VI and SA-BMA fit one Gaussian: after some " +
            "hundred steps their bands are too wide at the points and widen less in the middle.",
        ],
        made.gap.node,
      );
    }
    root.playground = made;
  };
  const theme = () => {
    root.dataset.theme = isDark() ? "dark" : "light";
    for (const world of Object.values(made)) world.recolor();
  };
  el.replaceChildren(root);
  theme();
  if (made.weights) setTimeout(later, 50);
  else later();
  return onThemeChange(theme);
}

export default {
  render: ({ model, el }) =>
    mount(el, { worlds: model.get("worlds"), autoplay: false, link: false }),
};
