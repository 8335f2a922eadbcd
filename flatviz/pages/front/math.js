// ---- formulas, typeset by the browser

// A small part of TeX as MathML: letters, numbers, operators, groups {…}, _ and ^, \frac{}{},
// \sqrt{}, \text{}, \max, \min, and the symbols below.
const SPACE = "http://www.w3.org/1998/Math/MathML";
/** @type {Record<string, string>} */
const SYMBOLS = {
  alpha: "α",
  gamma: "γ",
  delta: "δ",
  lambda: "λ",
  theta: "θ",
  Delta: "Δ",
  nabla: "∇",
  sum: "∑",
  in: "∈",
  sim: "∼",
  approx: "≈",
  le: "≤",
  cdot: "·",
  mid: "|",
  parallel: "∥",
  to: "→",
  leftarrow: "←",
  quad: "\u2003",
};
const WORDS = ["max", "min", "log", "KL", "E"];
const UNDER = ["∑", "max", "min"]; // what carries its limits below and above
const TOKEN = /\\[a-zA-Z]+|[{}_^]|[0-9.]+|[a-zA-Zα-ωΑ-Ω]′?|\s+|./gu;

/** @typedef {{ tag: string, text?: string, inside?: Tree[] }} Tree */

/**
 * @param {string} tag
 * @param {Tree[]} inside
 * @returns {Tree}
 */
const branch = (tag, ...inside) => ({ tag, inside });

/**
 * The tree of MathML of a formula.
 * @param {string} tex
 * @returns {Tree}
 */
export function parsed(tex) {
  const kept = tex.replace(/\\text\{[^}]*\}/g, (words) => words.replaceAll(" ", "\u00a0"));
  const tokens = (kept.match(TOKEN) ?? []).filter((token) => !/^ +$/.test(token));
  let at = 0;
  const group = () => {
    const inside = [];
    while (at < tokens.length && tokens[at] !== "}") inside.push(scripted());
    at += 1;
    return inside.length === 1 ? inside[0] : branch("mrow", ...inside);
  };
  /** @returns {Tree} */
  const atom = () => {
    const token = tokens[at++] ?? "";
    if (token === "{") return group();
    const name = token.startsWith("\\") ? token.slice(1) : "";
    if (name === "frac") return branch("mfrac", atom(), atom());
    if (name === "sqrt") return branch("msqrt", atom());
    if (name === "text") {
      const from = ++at;
      while (at < tokens.length && tokens[at] !== "}") at += 1;
      return { tag: "mtext", text: tokens.slice(from, at++).join("") };
    }
    if (WORDS.includes(name)) return { tag: "mo", text: name };
    const text = name ? (SYMBOLS[name] ?? name) : token;
    if (/^[0-9.]+$/.test(text)) return { tag: "mn", text };
    if (text.endsWith("′"))
      return branch("mrow", { tag: "mi", text: text[0] }, { tag: "mo", text: "′" });
    if (/^\p{L}$/u.test(text)) return { tag: "mi", text };
    return { tag: text === "\u2003" ? "mtext" : "mo", text };
  };
  const scripted = () => {
    const base = atom();
    /** @type {Record<string, Tree>} */
    const scripts = {};
    while (tokens[at] === "_" || tokens[at] === "^") scripts[tokens[at++]] = atom();
    const { _: low, "^": high } = scripts;
    const under = UNDER.includes(base.text ?? "");
    if (low && high) return branch(under ? "munderover" : "msubsup", base, low, high);
    if (low) return branch(under ? "munder" : "msub", base, low);
    return high ? branch("msup", base, high) : base;
  };
  const inside = [];
  while (at < tokens.length) inside.push(scripted());
  return branch("math", branch("mrow", ...inside));
}

/** A tree as elements. @param {Tree} tree */
function built({ tag, text, inside = [] }) {
  const node = document.createElementNS(SPACE, tag);
  if (text) node.textContent = text;
  if (text === "′") node.setAttribute("lspace", "0");
  if (/^[()[\]|∥]$/.test(text ?? "")) node.setAttribute("stretchy", "false");
  node.append(...inside.map(built));
  return node;
}

/** A formula on a line of its own. @param {string} tex */
export function formula(tex) {
  const node = built(parsed(tex));
  node.setAttribute("display", "block");
  return node;
}
