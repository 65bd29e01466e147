// edgegrad.torch as a folder that CPython can import, as the wheel has it.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageFiles } from "../../../scripts/building/wheel.mjs";
import { kRoot } from "../../../scripts/process.mjs";

/** Writes the files of the Python package that differ from those that are there, and returns the folder. */
export function writePythonPackage() {
  const folder = join(kRoot, "build", "pytorch", "python");
  const { version } = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8"));
  for (const [path, text] of packageFiles(join(kRoot, "web", "pyodide", "python"), version)) {
    const file = join(folder, path);
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}
