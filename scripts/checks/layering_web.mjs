// The layers of web/src: which folder may import values from which, and a check that files do not import each other in
// a cycle. `import type` is unrestricted, because types do not exist at run time.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kRoot, main } from "../process.mjs";
import { kWebBundle } from "../web_bundle.mjs";

// Each layer builds on those before it. There is one entry per folder, which may always import from itself and its
// subfolders, or per file that belongs to another layer than its folder. The top-level files combine everything and are
// imported only by another entry, single.
const kMayImport = {
  // The only top-level file that is below the folders.
  "files.ts": [],
  runtime: ["generated/border.ts", "files.ts"],
  arguments: ["generated/border.ts", "runtime"],
  "generated/border.ts": [],
  "generated/stream.ts": [],
  "generated/op_lines.ts": [],
  "generated/formula_shaders.json": [],
  engine: ["files.ts", "runtime", "arguments", "generated/border.ts"],
  tensor: ["generated/border.ts", "runtime", "arguments"],
  dispatch: ["generated/border.ts", "runtime", "arguments", "tensor", "generated/op_lines.ts"],
  generated: ["tensor", "dispatch"],
  ops: ["generated/border.ts", "runtime", "arguments", "tensor", "dispatch", "generated"],
  autograd: [
    "generated/border.ts",
    "runtime",
    "arguments",
    "engine",
    "tensor",
    "dispatch",
    "generated",
    "ops",
  ],
  composites: ["runtime", "tensor", "dispatch", "generated", "ops", "autograd"],
  nn: ["runtime", "arguments", "tensor", "generated", "ops", "composites", "autograd"],
  distributions: ["runtime", "arguments", "tensor", "generated", "ops", "autograd", "composites"],
  func: [
    "runtime",
    "arguments",
    "tensor",
    "dispatch",
    "generated",
    "ops",
    "autograd",
    "composites",
    "nn",
  ],
  optim: ["runtime", "arguments", "tensor", "generated", "ops", "autograd", "nn"],
  amp: ["runtime", "arguments", "tensor", "generated", "autograd"],
  io: ["runtime", "arguments", "tensor", "ops"],
  data: ["runtime", "arguments", "tensor", "generated", "ops", "io"],
  webgpu: [
    "runtime",
    "generated/border.ts",
    "generated/stream.ts",
    "generated/formula_shaders.json",
  ],
  vite: ["runtime"],
  testing: ["runtime", "arguments", "tensor", "ops"],
  single: ["(top)"],
  threads: ["files.ts", "runtime", "engine", "generated/border.ts", "tensor"],
};

const kTop = "(top)";

/** Returns one line per import of a value that violates the layering, and one per cycle of files. */
export async function findWebLayeringErrors(source = join(kRoot, "web", "src")) {
  const imports = await valueImports(source);
  return [...againstArrows(imports), ...circles(imports, "web/src")].sort();
}

/** Returns for every file the files that it imports values from, as seen by the bundler; names are relative to `source`. */
async function valueImports(source) {
  const names = readdirSync(source, { recursive: true });
  const { build } = await import("esbuild");
  const { metafile } = await build({
    entryPoints: names.filter((name) => /(?<!\.d)\.ts$/.test(name)),
    absWorkingDir: source,
    tsconfig: join(kRoot, "tsconfig.json"),
    ...kWebBundle,
    outdir: "unused",
    splitting: true,
    write: false,
    metafile: true,
  });
  return new Map(
    Object.entries(metafile.inputs).map(([name, { imports }]) => [
      name,
      imports.filter(({ external }) => !external).map(({ path }) => path),
    ]),
  );
}

function againstArrows(imports) {
  const errors = [];
  for (const [from, paths] of imports) {
    const layer = layerOf(from);
    if (layer === undefined) {
      errors.push(`web/src/${from} belongs to no layer of kMayImport`);
      continue;
    }
    for (const to of paths) {
      if (isAllowed(layer, layerOf(to))) continue;
      errors.push(`web/src/${from} (${layer}) may not import values from ${to}`);
    }
  }
  return errors;
}

function layerOf(name) {
  if (Object.hasOwn(kMayImport, name)) return name;
  if (!name.includes("/")) return kTop;
  return Object.keys(kMayImport).find((layer) => name.startsWith(`${layer}/`));
}

function isAllowed(from, to) {
  return from === kTop || from === to || kMayImport[from].includes(to);
}

/** Returns each cycle of files in a folder once, as the path of files in it. */
export function circles(imports, folder) {
  const errors = [];
  const done = new Set();
  const path = [];
  const visit = (name) => {
    const start = path.indexOf(name);
    if (start >= 0) {
      const around = [...path.slice(start), name].join(" -> ");
      errors.push(`${folder}: cyclic import of values: ${around}`);
      return;
    }
    if (done.has(name)) return;
    path.push(name);
    for (const next of imports.get(name) ?? []) visit(next);
    path.pop();
    done.add(name);
  };
  for (const name of [...imports.keys()].sort()) visit(name);
  return errors;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const errors = await findWebLayeringErrors();
    for (const error of errors) console.error(error);
    return errors.length ? 1 : 0;
  });
}
