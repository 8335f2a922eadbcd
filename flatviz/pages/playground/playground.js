// The playground in an element: the two-weight world, the step, the network, or those that `options.worlds` names.

export function mount(el, options = {}) {
  const root = node("div", { class: "pg" });
  keepKeys(root);
  root.append(node("style", {}, STYLE));
  const worlds = new Set(options.worlds ?? ["weights", "step", "network"]), made = {};
  const section = (title, text, content) => root.append(node("h2", {}, title), ...text.map((line) => node("p", {}, line)), content);
  if (worlds.has("weights") || worlds.has("step")) {
    made.weights = new World(options);
    section("Two weights", [], made.weights.node);
  }
  if (worlds.has("step")) {
    made.step = new StepView(made.weights);
    section("One step of SA-BMA", ["From where SA-BMA stands above, whenever the run above rests."], made.step.node);
  }
  if (worlds.has("network")) {
    made.network = new NetworkWorld(options);
    section("A network of about fifty weights", ["The same two trainings, of a network. Flat shows as wide rings of the loss around the draws. "
      + "Spirals come first because there the flatter training mostly has the lower test loss as well; on the moons it mostly has the higher one: look."], made.network.node);
  }
  const theme = () => { root.dataset.theme = isDark() ? "dark" : "light"; for (const world of Object.values(made)) world.recolor(); };
  el.replaceChildren(root);
  theme();
  root.playground = made;
  return onThemeChange(theme);
}

export default { render: ({ model, el }) => mount(el, { worlds: model.get("worlds"), autoplay: false }) };
