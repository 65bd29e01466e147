// Writes the code of a page to files and runs it. The folder is inside the checkout, where "edgegrad" resolves to this package.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNode } from "../../js/support/child.mjs";
import { kRoot } from "../../js/support/files.mjs";

const kArrow = "// → ";

/** Makes a folder that contains these files; `remove` deletes it. */
export function makeFolder(files) {
  const parent = join(kRoot, "build", "docs");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "page-"));
  for (const { note, code } of files) writeFileSync(join(folder, note), code);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Runs a program in its folder. */
export function runIn(folder, name, code) {
  writeFileSync(join(folder, name), code);
  return runNode([name], { cwd: folder });
}

/** Returns the output that a program announces with arrows; null if it has no arrows. */
export function expectedOutput(code, arrow = kArrow) {
  const lines = code.split("\n").filter((line) => line.includes(arrow));
  if (lines.length === 0) return null;
  return lines.map((line) => `${line.slice(line.indexOf(arrow) + arrow.length)}\n`).join("");
}
