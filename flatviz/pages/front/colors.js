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

// A colour with its opacity, as `rgba(31, 41, 51, 0.2)`: the opacity stays.
function faded(text, ...parts) {
  const hex = parts.slice(0, 3).map((part) => Number(part).toString(16).padStart(2, "0"));
  const dark = DARK[`#${hex.join("")}`];
  if (!dark || text.startsWith("rgba(255")) return text;
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(dark.slice(i, i + 2), 16));
  return `rgba(${r}, ${g}, ${b}, ${parts[3]})`;
}

export function recolored(value) {
  if (typeof value === "string")
    return value.length < 4
      ? value
      : value
          .replace(/#(?:[0-9a-f]{6}|fff)\b/gi, (c) => DARK[c.toLowerCase()] ?? c)
          .replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g, faded);
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
