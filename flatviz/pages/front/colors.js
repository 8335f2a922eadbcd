// ---- light and dark

// The colours of the Python theme that carry no data, and what they are on dark ground.
const DARK = {
  "#1f2933": "#e4e7eb",
  "#6b7780": "#a3aeb9",
  "#e4e7eb": "#323b45",
  "#ffffff": "#15191e",
  "#fff": "#15191e",
};

// The methods' colours, lighter where dark ground needs it, as the bundle has them; those of the
// theme stay.
export function learnColors(lighter) {
  for (const [color, other] of Object.entries(lighter)) DARK[color] ??= other;
}

// JupyterLab says which theme it has on its body, the documentation on its root; else the system
// does.
export function isDark() {
  const { body, documentElement: root } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (root.dataset.theme) return root.dataset.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export function recolored(value) {
  if (typeof value === "string")
    return value.length < 4
      ? value
      : value.replace(/#(?:[0-9a-f]{6}|fff)\b/gi, (c) => DARK[c.toLowerCase()] ?? c);
  if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(recolored);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [
      k,
      k === "colorscale" || k === "bdata" ? v : recolored(v),
    ]),
  );
}

export function onThemeChange(callback) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const watcher = new MutationObserver(callback);
  watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  media.addEventListener("change", callback);
  return () => {
    watcher.disconnect();
    media.removeEventListener("change", callback);
  };
}
