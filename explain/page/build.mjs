// SPDX-License-Identifier: Apache-2.0
// node build.mjs WORK OUT [--small]: one text from the files of this folder and the packages in WORK/node_modules, as the program carries it.
// --small: with a layout of our own in the place of elkjs, for the site (dev_tools/site/gallery.py).
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [work, out] = process.argv.slice(2, 4).map((p) => resolve(p));
const small = process.argv[4] === "--small";
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
  alias: small ? { "elkjs/lib/elk.bundled.js": join(here, "layers.js") } : {},
  nodePaths: [join(work, "node_modules")],
  outfile: "page.js",
  write: false,
});
const text = (end) => result.outputFiles.find((f) => f.path.endsWith(end)).text;
const contains = "Contains elkjs (Eclipse Public License 2.0) and uPlot (MIT).";
if (!text(".js").includes(contains)) throw new Error(`the page does not say: ${contains}`);
const parts = { STYLE: text(".css"), SCRIPT: small ? text(".js").replace(contains, "Contains uPlot (MIT).") : text(".js") };
const page = readFileSync(join(here, "index.html"), "utf8");
writeFileSync(out, page.replace(/\/\*@(STYLE|SCRIPT)@\*\//g, (_, name) => parts[name]));
