// How many of PyTorch's tests pass on edgegrad.torch, beside those that pass on the shim: figures.json, from which the docs have a table.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withMarkedPart } from "../../../scripts/docs/marked_text.mjs";
import { isGood, readExpected } from "../expected.mjs";
import { kFiles } from "../files.mjs";
import { kPage } from "../table.mjs";

const kFigures = join(dirname(fileURLToPath(import.meta.url)), "figures.json");
const kMostReasons = 12;

export const kPackageColumn = "written down";

/** Reads how many tests of each file pass on the package, by pipes and in Pyodide. */
export const readFigures = () => JSON.parse(readFileSync(kFigures, "utf8"));

const passes = (outcome) => isGood(outcome) && outcome !== "skip";

/** Returns how many tests of a file passed, how many do on the shim, and why others that pass there did not, by reason. */
export function compare(file, rows) {
  const { tests } = readExpected(file);
  const lost = new Map();
  for (const { test, status, reason = status } of rows) {
    if (status === "pass" || !passes(tests.get(test) ?? "")) continue;
    const kind = reason.split("\n")[0].replace(/\d+/g, "N").slice(0, 110);
    lost.set(kind, [...(lost.get(kind) ?? []), test]);
  }
  return {
    file,
    passed: rows.filter(({ status }) => status === "pass").length,
    shim: [...tests.values()].filter(passes).length,
    known: readFigures()[file]?.pipes ?? 0,
    lost: [...lost].sort(([, a], [, b]) => b.length - a.length).slice(0, kMostReasons),
  };
}

/** Writes the figures of files down, and the table of the docs. */
export function writePackageFigures(found) {
  const figures = readFigures();
  for (const { file, passed } of found) figures[file] = { ...figures[file], pipes: passed };
  writeFigures(figures);
}

/** Writes down how many tests passed in Pyodide, of those that pass by pipes. */
export function writePyodideFigures(found) {
  const figures = readFigures();
  for (const one of Object.values(figures)) delete one.pyodide;
  for (const { file, passed, of } of found)
    figures[file] = { ...figures[file], pyodide: [passed, of] };
  writeFigures(figures);
}

function writeFigures(figures) {
  const ordered = kFiles
    .filter(({ file }) => file in figures)
    .map(({ file }) => [file, figures[file]]);
  const text = JSON.stringify(Object.fromEntries(ordered), null, 2);
  // A pair of numbers is on one line.
  writeFileSync(kFigures, `${text.replace(/\[\s+(\d+),\s+(\d+)\s+\]/g, "[$1, $2]")}\n`);
  writeFileSync(kPage, withMarkedPart(readFileSync(kPage, "utf8"), "package", packageTable()));
}

/** Returns the table of the docs. */
export function packageTable() {
  const rows = Object.entries(readFigures()).map(([file, { pipes, pyodide }]) => {
    const shim = [...readExpected(file).tests.values()].filter(passes).length;
    return { file, pipes, shim, pyodide };
  });
  const line = ({ file, shim, pipes, pyodide }) =>
    `| ${file} | ${shim} | ${pipes} | ${pyodide ? `${pyodide[0]} of ${pyodide[1]}` : ""} |\n`;
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const inPyodide = [0, 1].map((at) =>
    rows.reduce((total, row) => total + (row.pyodide?.[at] ?? 0), 0),
  );
  const all = { file: "all", shim: sum("shim"), pipes: sum("pipes"), pyodide: inPyodide };
  const head = "| file | JavaScript | `edgegrad.torch` | in Pyodide |\n| --- | --- | --- | --- |\n";
  return `${head}${rows.map((row) => line({ ...row, file: `\`${row.file}\`` })).join("")}${line(all)}`;
}
