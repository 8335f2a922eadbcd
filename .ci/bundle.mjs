// Bundle the JavaScript of flatviz into flatviz/pages/bundles, the same bytes every time.
//
//   npm install --prefix .ci --no-package-lock && node .ci/bundle.mjs          write what differs
//   node .ci/bundle.mjs --check                                                status 1 and a list,
// if anything differs
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url)),
  folder = `${root}flatviz/pages/bundles`;
const BUNDLES = {
  // name -> [its entry, the global that it sets, or "" for a module]
  explorer: ["flatviz/pages/front/start.js", "flatvizExplorer"],
  playground: ["flatviz/pages/playground/playground.js", "flatvizPlayground"],
  loader: ["flatviz/widgets/loader.js", ""],
};
const how = {
  bundle: true,
  write: false,
  minify: true,
  lineLimit: 140,
  charset: "utf8",
  target: "es2022",
  loader: { ".css": "text" },
  absWorkingDir: root,
};

mkdirSync(folder, { recursive: true });
let stale = 0;
for (const [name, [entry, global]] of Object.entries(BUNDLES)) {
  const {
    outputFiles: [{ text }],
  } = await build({
    ...how,
    entryPoints: [entry],
    ...(global ? { format: "iife", globalName: global } : { format: "esm" }),
  });
  const path = `${folder}/${name}.js`;
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  stale += 1;
  if (process.argv.includes("--check"))
    console.log(`${path} is not that of its sources: run node .ci/bundle.mjs`);
  else {
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
}
process.exitCode = process.argv.includes("--check") && stale ? 1 : 0;
