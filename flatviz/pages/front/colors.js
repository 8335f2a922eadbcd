// ---- light and dark

// The colours of the Python theme that carry no data, and what they are on dark ground.
/** @type {Record<string, string>} */
const DARK = {
  "#1f2933": "#e4e7eb",
  "#6b7780": "#a3aeb9",
  "#e4e7eb": "#323b45",
  "#ffffff": "#15191e",
  "#fff": "#15191e",
};

const KEPT = ["colorscale", "bdata"]; // of a figure

/**
 * Learn the methods' colours, lighter where dark ground needs it, as the bundle has them; those of
 * the theme stay.
 * @param {Record<string, string>} lighter
 */
export function learnColors(lighter) {
  for (const [color, other] of Object.entries(lighter)) DARK[color] ??= other;
}

/**
 * Whether the ground is dark. JupyterLab says which theme it has on its body, the documentation on
 * its root; else the system does.
 */
export function isDark() {
  const { body, documentElement: root } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (root.dataset.theme) return root.dataset.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * A colour with its opacity, as `rgba(31, 41, 51, 0.2)`, for dark ground: the opacity stays.
 * @param {string} text
 * @param {...string} parts
 */
function faded(text, ...parts) {
  const hex = parts.slice(0, 3).map((part) => Number(part).toString(16).padStart(2, "0"));
  const dark = DARK[`#${hex.join("")}`];
  if (!dark || text.startsWith("rgba(255")) return text;
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(dark.slice(i, i + 2), 16));
  return `rgba(${r}, ${g}, ${b}, ${parts[3]})`;
}

/**
 * The same value with every colour as dark ground needs it; numbers and colour scales stay.
 * @template T
 * @param {T} value
 * @returns {T}
 */
export function recolored(value) {
  return /** @type {T} */ (forDark(value));
}

/** @param {unknown} value @returns {unknown} */
function forDark(value) {
  if (typeof value === "string")
    return value.length < 4
      ? value
      : value
          .replace(/#(?:[0-9a-f]{6}|fff)\b/gi, (c) => DARK[c.toLowerCase()] ?? c)
          .replace(/rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)/g, faded);
  if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(forDark);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, KEPT.includes(k) ? v : forDark(v)]),
  );
}

/** Call back when the theme changes. Returns what ends that. @param {() => void} callback */
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
