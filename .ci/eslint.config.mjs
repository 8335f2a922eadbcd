// The recommended rules over the JavaScript of flatviz; `tsc` knows the names.
import js from "@eslint/js";

const files = [
  "flatviz/pages/front/*.js",
  "flatviz/pages/playground/*.js",
  "flatviz/widgets/*.js",
  "docs/static/*.js",
  ".ci/*.mjs",
  "tests/**/*.{js,mjs}",
];
export default [
  { ignores: ["**/node_modules/", "**/.venv*/", "flatviz/pages/bundles/"] },
  {
    files,
    ...js.configs.recommended,
    rules: { ...js.configs.recommended.rules, "no-undef": "off" },
  },
];
