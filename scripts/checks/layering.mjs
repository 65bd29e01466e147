// The layers of src/: which folder may include which. One entry per layer, whose folders may include each other freely.
// For web/src see layering_web.mjs.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { kRoot, main } from "../process.mjs";

const kBelowDispatch = ["base", "formulas", "runtime", "kernels", "tensor", "autograd"];
const kMayInclude = {
  base: [],
  formulas: ["base"],
  runtime: ["base"],
  kernels: ["base", "formulas", "runtime"],
  "backend/cpu": ["base", "formulas", "runtime", "kernels"],
  "backend/webgpu": ["base", "formulas", "runtime", "kernels"],
  tensor: ["base", "runtime"],
  autograd: ["base", "runtime", "tensor"],
  dispatch: kBelowDispatch,
  ops: [...kBelowDispatch, "dispatch"],
};

// The only files above the backends that include one: the loops over formulas are compiled for the CPU from their declarations,
// and a short computation on packed memory skips the description of a kernel.
const kDoors = {
  "dispatch/elementwise_info.h": "backend/cpu/elementwise/elementwise.h",
  "dispatch/elementwise.cpp": "backend/cpu/elementwise/packed.h",
};

/** Returns one line per include that violates the layering. */
export function findLayeringErrors() {
  const source = join(kRoot, "src");
  const files = readdirSync(source, { recursive: true }).filter((name) => /\.(h|cpp)$/.test(name));
  return files.sort().flatMap((file) => {
    const layer = layerOf(file);
    if (!layer) return [];
    const includes = readFileSync(join(source, file), "utf8").matchAll(/^#include "([^"]+)"/gm);
    const wrong = [...includes]
      .map((match) => match[1])
      .filter((path) => path !== kDoors[file] && !isAllowed(layer, layerOf(path)));
    return wrong.map(
      (path) => `${relative(kRoot, join(source, file))} (${layer}) may not include ${path}`,
    );
  });
}

const layerOf = (path) => Object.keys(kMayInclude).find((layer) => path.startsWith(`${layer}/`));
const isAllowed = (from, to) => from === to || kMayInclude[from].includes(to);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    const errors = findLayeringErrors();
    for (const error of errors) console.error(error);
    return errors.length ? 1 : 0;
  });
}
