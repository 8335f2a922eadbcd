// The playground in an element: the two-weight world, the step, the network, or those that `options.worlds` names.

export function mount(el, options = {}) {
  const root = node("div", { class: "pg", "data-lm-suppress-shortcuts": "true" });
  for (const kind of ["keydown", "keyup", "keypress"]) root.addEventListener(kind, (e) => e.stopPropagation());   // a notebook has its own use for keys
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
  const theme = () => { root.dataset.theme = isDark() ? "dark" : "light"; for (const world of Object.values(made)) world.recolor(); };
  el.replaceChildren(root);
  theme();
  root.playground = made;
  return onThemeChange(theme);
}

export default { render: ({ model, el }) => mount(el, { worlds: model.get("worlds"), autoplay: false }) };
