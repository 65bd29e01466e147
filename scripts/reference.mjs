// The reference of the package with the guide in it, made by typedoc (scripts/reference), which has a TypeScript of its
// own: the project's has no interface for programs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot, quiet } from "./process.mjs";

const kHere = join(kRoot, "scripts", "reference");

/** The folder of the guide. */
export const kGuide = join(kRoot, "docs", "guide");

/** The pages of the guide and of what there is, in the order that the guide's first page lists them. */
export function guidePages() {
  const contents = readFileSync(join(kGuide, "README.md"), "utf8");
  return [...contents.matchAll(/^- \[[^\]]*\]\(([^)]+\.md)\)/gm)].map(([, path]) =>
    join(kGuide, path),
  );
}

/** Writes the reference into a folder; what is not documented, and a link that leads nowhere, is an error. */
export async function writeReference(folder) {
  const program = join(kHere, "node_modules", "typedoc", "bin", "typedoc");
  const documents = guidePages().flatMap((page) => ["--projectDocuments", page]);
  const options = ["--options", join(kHere, "typedoc.json"), "--out", folder];
  await quiet(process.execPath, [program, ...options, ...documents], { cwd: kHere });
}
