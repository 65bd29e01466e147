// Writes the reference of the package, including the guide, with typedoc (scripts/reference). typedoc has its own copy
// of TypeScript, because the project's version has no programmatic API.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { kAddons } from "../addons.mjs";
import { kRoot, quiet } from "../process.mjs";
import { ranked } from "../reference/search_ranking.mjs";
import { kLists, listPath } from "./lists.mjs";

const kHere = join(kRoot, "scripts", "reference");

/** The folder of the guide. */
export const kGuide = join(kRoot, "docs", "guide");

/** The examples of all functions and classes, which were run (examples/index.mjs). */
export const kExamples = join(kRoot, "build", "reference", "examples.json");

/** Returns the pages of the guide, in the order of the links on its first page, and the lists. */
export function guidePages() {
  const contents = readFileSync(join(kGuide, "README.md"), "utf8");
  const pages = [...contents.matchAll(/^- \[[^\]]*\]\(([^)]+\.md)\)/gm)];
  return [...pages.map(([, path]) => join(kGuide, path)), ...kLists.map(listPath)];
}

/** Writes the reference into a folder. Undocumented names and broken links are errors. */
export async function writeReference(folder) {
  const program = join(kHere, "node_modules", "typedoc", "bin", "typedoc");
  const documents = guidePages().flatMap((page) => ["--projectDocuments", page]);
  const entry = writeEntry(dirname(kExamples));
  await quiet(process.execPath, [
    join(kRoot, "scripts", "docs", "examples", "index.mjs"),
    kExamples,
  ]);
  const options = ["--options", join(kHere, "typedoc.json"), "--out", folder, ...entry];
  await quiet(process.execPath, [program, ...options, ...documents], { cwd: kHere });
  rankResults(join(folder, "assets", "main.js"));
  listFiles(folder);
}

// For the service worker of the site, which keeps the docs if somebody asks for it.
function listFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const files = paths.map((path) => `docs/${relative(folder, path).replaceAll(sep, "/")}`);
  writeFileSync(join(folder, "files.json"), JSON.stringify({ bytes, files }));
}

// What typedoc's script does with the text that somebody types, up to the filter of results, and how it then sorts them.
const kOwnQuery = /let \w+=(\w+)\.split\(" "\)\.map\([^;]*;(\w+)=(\w+)\.index\.search\(\w+\)/;
const kOwnOrder =
  /for\(let \w+=0;[^{]*\{[^{}]*\.name\.toLowerCase\(\)\.startsWith[^}]*\}\w+\.sort\([^;]*;/;

// typedoc has no option for it.
function rankResults(script) {
  const before = readFileSync(script, "utf8");
  for (const part of [kOwnQuery, kOwnOrder])
    if (!part.test(before)) throw new Error(`typedoc's ${script} no longer contains ${part}.`);
  const after = before
    .replace(kOwnQuery, (_, typed, found, data) => {
      return `${found}=(${ranked})(${typed},${data}.index,${data}.data.rows)`;
    })
    .replace(kOwnOrder, "");
  writeFileSync(script, after);
}

// One entry of the core with the add-ons as namespaces, because typedoc changes the addresses of all pages for several entries. Returns
// the options for it.
function writeEntry(folder) {
  const web = "../../web";
  const paths = { edgegrad: [`${web}/src/index.ts`] };
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions: { rootDir: "../..", paths },
    include: ["entry.ts", `${web}/src`],
  };
  const addons = kAddons.map((name) => `export * as ${name} from "${web}/${name}/index.js";\n`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  writeFileSync(
    join(folder, "entry.ts"),
    [`export * from "${web}/src/index.js";\n`, ...addons].join(""),
  );
  return ["--entryPoints", join(folder, "entry.ts"), "--tsconfig", join(folder, "tsconfig.json")];
}
