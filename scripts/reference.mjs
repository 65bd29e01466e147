// Writes the reference of the package, including the guide, with typedoc (scripts/reference). typedoc has its own copy
// of TypeScript, because the project's version has no programmatic API.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot, quiet } from "./process.mjs";

const kHere = join(kRoot, "scripts", "reference");

/** The folder of the guide. */
export const kGuide = join(kRoot, "docs", "guide");

/** Returns the pages of the guide and the lists, in the order of the links on the guide's first page. */
export function guidePages() {
  const contents = readFileSync(join(kGuide, "README.md"), "utf8");
  return [...contents.matchAll(/^- \[[^\]]*\]\(([^)]+\.md)\)/gm)].map(([, path]) =>
    join(kGuide, path),
  );
}

/** Writes the reference into a folder. Undocumented names and broken links are errors. */
export async function writeReference(folder) {
  const program = join(kHere, "node_modules", "typedoc", "bin", "typedoc");
  const documents = guidePages().flatMap((page) => ["--projectDocuments", page]);
  const options = ["--options", join(kHere, "typedoc.json"), "--out", folder];
  await quiet(process.execPath, [program, ...options, ...documents], { cwd: kHere });
}
