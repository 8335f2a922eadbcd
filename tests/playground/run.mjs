// node run.mjs ENGINE: the answer to the question on stdin, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { answer } from "./answer.mjs";

const engine = await import(pathToFileURL(process.argv[2]));
process.stdout.write(
  JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((ask) => answer(engine, ask))),
);
