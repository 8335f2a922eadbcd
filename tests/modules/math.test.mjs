// Formulas of the article as trees of MathML.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parsed } from "../../flatviz/pages/front/math.js";

/** A tree in brackets, texts as they are. */
const brief = ({ tag, text, inside }) => (inside ? `${tag}(${inside.map(brief).join(" ")})` : text);

test("a formula becomes the tree that MathML has for it", () => {
  const cases = {
    "w_m \\sim q": "math(mrow(msub(w m) ∼ q))",
    "\\frac{1}{M} \\sum_{m=1}^{M} x": "math(mrow(mfrac(1 M) munderover(∑ mrow(m = 1) M) x))",
    "\\max_{q′} \\text{over all} \\sqrt{2 x}":
      "math(mrow(munder(max mrow(q ′)) over\u00a0all msqrt(mrow(2 x))))",
    "\\delta^T H \\delta": "math(mrow(msup(δ T) H δ))",
  };
  for (const [tex, tree] of Object.entries(cases)) assert.equal(brief(parsed(tex)), tree, tex);
});
