// node build.mjs WORK OUT: one text from the files of this folder and the packages in WORK/node_modules, as the program carries it.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [work, out] = process.argv.slice(2).map((p) => resolve(p));
const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(join(work, "package.json"))("esbuild");

const result = await build({
  entryPoints: [join(here, "main.js")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "eof",
  nodePaths: [join(work, "node_modules")],
  outfile: "page.js",
  write: false,
});
const text = (end) => result.outputFiles.find((f) => f.path.endsWith(end)).text;
const parts = { STYLE: text(".css"), SCRIPT: text(".js") };
const page = readFileSync(join(here, "index.html"), "utf8");
writeFileSync(out, page.replace(/\/\*@(STYLE|SCRIPT)@\*\//g, (_, name) => parts[name]));
