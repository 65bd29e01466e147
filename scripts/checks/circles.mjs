// Finds circular imports in web, including imports of types, so that a reader can go through a folder from top to bottom.

import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { kRoot } from "../process.mjs";

// Classes to which other files add methods, or that files below them mention: type imports from and in these files do not count.
const kClasses = [
  "src/tensor/tensor.ts",
  "src/ops/generator.ts",
  "src/nn/parameter.ts",
  "src/nn/module.ts",
];

const kImport = /^(?:import|export)(?<types> type)?\s[^;"]*?from "(?<path>\.[^"]+)"/gm;
const kLazyImport = /\bimport\("(?<path>\.[^"]+)"\)/g;

/** Returns one line per circle, with the files in it. */
export function findCircles(folder = join(kRoot, "web"), classes = kClasses) {
  const graph = importsIn(folder, classes);
  const circles = [];
  const done = new Set();
  for (const start of graph.keys()) {
    // Every file that is reachable from a file and reaches it again is in a circle with it.
    if (done.has(start)) continue;
    const path = pathBack(start, graph);
    if (path === null) continue;
    for (const file of path) done.add(file);
    circles.push(`a circle of imports: ${[...path, start].join(" -> ")}`);
  }
  return circles;
}

function importsIn(folder, classes) {
  const names = readdirSync(folder, { recursive: true })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => /(?<!\.d)\.ts$/.test(name));
  const graph = new Map();
  for (const name of names) {
    const text = readFileSync(join(folder, name), "utf8");
    const found = [...text.matchAll(kImport), ...text.matchAll(kLazyImport)].map(({ groups }) => ({
      isType: groups.types !== undefined,
      target: posix.join(posix.dirname(name), groups.path).replace(/\.js$/, ".ts"),
    }));
    const counts = ({ isType, target }) =>
      !(isType && (classes.includes(name) || classes.includes(target)));
    graph.set(
      name,
      found.filter(counts).map(({ target }) => target),
    );
  }
  return graph;
}

// Returns the shortest path from a file back to itself, without its last step; null if there is no such path.
function pathBack(start, graph) {
  const before = new Map();
  const waiting = [start];
  for (const file of waiting) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) {
        const path = [file];
        while (path[0] !== start) path.unshift(before.get(path[0]));
        return path;
      }
      if (before.has(next)) continue;
      before.set(next, file);
      waiting.push(next);
    }
  }
  return null;
}
