// The recommended rules over the JavaScript of flatviz; `tsc` knows the names.
import js from "@eslint/js";

const files = ["flatviz/pages/front/*.js", "flatviz/pages/playground/*.js", "flatviz/widgets/*.js", "docs/static/*.js", ".ci/*.mjs", "tests/**/*.{js,mjs}"];
export default [{ files, ...js.configs.recommended, rules: { ...js.configs.recommended.rules, "no-undef": "off" } }];
