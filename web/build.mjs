// Sources → the page, its style and its scripts in crates/web/dist. The same sources give the same bytes.
import { build } from "esbuild";
import { copyFile } from "node:fs/promises";

const out = process.argv[2] ?? "../crates/web/dist";
const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning" };
await build({ ...common, entryPoints: ["src/main.ts"], outfile: `${out}/workbench.js`, format: "iife" });
await build({ ...common, entryPoints: ["src/worker.ts"], outfile: `${out}/worker.js`, format: "iife" });
await build({ ...common, entryPoints: ["src/lessons_page.ts"], outfile: `${out}/lessons.js`, format: "iife" });
await build({ ...common, entryPoints: ["src/style.css"], outfile: `${out}/workbench.css` });
for (const page of ["index.html", "lessons.html"]) await copyFile(`src/${page}`, `${out}/${page}`);
