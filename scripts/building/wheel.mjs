// Writes the wheel of edgegrad/pyodide's Python package: its sources, and files made from what the op table and the composites declare.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { kRoot } from "../process.mjs";
import { stubOfFunctional, stubOfMethods, stubOfTorch } from "./python_stubs.mjs";
import { tableOfOps } from "./python_table.mjs";

/** Writes the wheel of the sources in `source`/python into `folder`, and its name into the script there; resolves when both are written. */
export async function writeWheel(source, folder) {
  const { version } = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8"));
  const files = packageFiles(join(source, "python"), version);
  const info = `edgegrad-${version}.dist-info`;
  files.set(
    `${info}/METADATA`,
    `Metadata-Version: 2.1\nName: edgegrad\nVersion: ${version}\nSummary: PyTorch's API for Python in the page, computed by edgegrad.\n` +
      "License: MIT\nRequires-Python: >=3.12\n",
  );
  files.set(
    `${info}/WHEEL`,
    "Wheel-Version: 1.0\nGenerator: edgegrad\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  );
  files.set(`${info}/RECORD`, recordOf(files, `${info}/RECORD`));
  const name = `edgegrad-${version}-py3-none-any.whl`;
  writeFileSync(join(folder, name), await archiveOf(files));
  const script = join(folder, "index.js");
  const text = readFileSync(script, "utf8");
  if (!text.includes(kName)) throw new Error(`${script} does not name the wheel`);
  writeFileSync(script, text.replaceAll(kName, name));
}

// The same bytes for the same files: each has the first date of the format.
async function archiveOf(files) {
  // Not at the top: a fresh clone has no packages yet when its scripts start.
  const { strToU8, zipSync } = await import("fflate");
  const entries = [...files].map(([path, text]) => [path, strToU8(text)]);
  return zipSync(Object.fromEntries(entries), { level: 9, mtime: new Date(1980, 0, 1) });
}

// The wheel's name in the sources, which do not know the version.
const kName = "edgegrad-WHEEL_VERSION-py3-none-any.whl";

/** Returns the files of the Python package by their paths: the sources, and what is made. */
export function packageFiles(source, version) {
  const files = new Map();
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/\.(?:py|pyi|typed)$/.test(entry.name)) continue;
    files.set(relative(source, path).split(sep).join("/"), readFileSync(path, "utf8"));
  }
  files.set(
    "edgegrad/_version.py",
    `"""The version of edgegrad."""\n\n__version__ = "${version}"\n`,
  );
  files.set("edgegrad/torch/_table.py", tableOfOps());
  files.set("edgegrad/torch/_tensor.pyi", stubOfMethods());
  files.set("edgegrad/torch/__init__.pyi", stubOfTorch());
  files.set("edgegrad/torch/nn/functional.pyi", stubOfFunctional());
  files.set("edgegrad/py.typed", "");
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function recordOf(files, own) {
  const lines = [...files].map(([path, text]) => {
    const hash = createHash("sha256").update(text).digest("base64url");
    return `${path},sha256=${hash},${Buffer.byteLength(text)}\n`;
  });
  return `${lines.join("")}${own},,\n`;
}
