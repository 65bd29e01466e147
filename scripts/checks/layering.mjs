// The layers of src, of web/src and of the add-ons (web/<name>): what may include or import what.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import {
  kAddonFolders,
  kBundledInAddon,
  kNodeModulesOfAddon,
  kPeersOfAddon,
  kSharedByAddons,
} from "../addons.mjs";
import { kWebBundle } from "../building/web_bundle.mjs";
import { idlePatterns } from "../patterns.mjs";
import { kRoot, main } from "../process.mjs";

// Each table has one line per layer, with the layers below it that it may use. A layer is a folder, which may always use itself, or a file
// that belongs to another layer than its folder; such a file has its own line above that of the folder.

const kOfSource = {
  base: "",
  formulas: "base",
  runtime: "base",
  kernels: "base formulas runtime",
  "backend/cpu": "base formulas runtime kernels",
  "backend/webgpu": "base runtime kernels",
  tensor: "base runtime",
  autograd: "base runtime tensor",
  dispatch: "base formulas runtime kernels tensor autograd",
  ops: "base formulas runtime kernels tensor autograd dispatch",
};

// The only files above the backends that may include one. One compiles the loops over formulas for the CPU; the other skips the
// description of a kernel for short computations on packed memory.
const kDoors = {
  "dispatch/elementwise_info.h": "backend/cpu/elementwise/elementwise.h",
  "dispatch/elementwise.cpp": "backend/cpu/elementwise/packed.h",
};

// The files directly in web/src combine everything, and only another entry, single, imports them.
const kTop = "(top)";

const kOfWeb = {
  "files.ts": "",
  "generated/border.ts": "",
  "generated/stream.ts": "",
  "generated/op_lines.ts": "",
  "generated/formula_shaders.json": "",
  runtime: "files.ts",
  arguments: "runtime",
  engine: "files.ts generated/border.ts runtime arguments",
  tensor: "generated/border.ts runtime arguments",
  dispatch: "generated/border.ts generated/op_lines.ts runtime arguments tensor",
  generated: "dispatch",
  ops: "generated/border.ts runtime arguments tensor dispatch generated",
  autograd: "generated/border.ts runtime arguments engine tensor dispatch generated ops",
  composites: "runtime tensor dispatch generated ops autograd",
  nn: "runtime arguments tensor generated ops autograd composites",
  distributions: "runtime arguments tensor generated ops autograd composites",
  func: "runtime arguments tensor dispatch generated ops autograd composites nn",
  optim: "runtime arguments tensor generated ops autograd nn",
  amp: "runtime arguments tensor generated autograd",
  io: "runtime arguments tensor ops",
  data: "runtime arguments tensor generated ops io",
  webgpu: "generated/border.ts generated/stream.ts generated/formula_shaders.json runtime",
  vite: "runtime",
  testing: "runtime arguments tensor ops",
  single: kTop,
  threads: "files.ts generated/border.ts runtime engine tensor",
  [kTop]: "",
};

const isIn = (layer, name) =>
  name === layer || name.startsWith(`${layer}/`) || (layer === kTop && !name.includes("/"));

/**
 * Returns a line for each import that a table of layers does not allow, and for each unused entry of the table: a layer without files, or
 * a permission that no import needs. `imports` has the paths that each file imports; `what` is the verb for messages.
 */
export function layeringErrors(imports, layers, { folder, what, doors = {} }) {
  const layerOf = (name) => Object.keys(layers).find((layer) => isIn(layer, name));
  const allowed = Object.entries(layers).flatMap(([layer, text]) =>
    text.split(" ").flatMap((below) => (below ? [`${layer} uses ${below}`] : [])),
  );
  const errors = [];
  const used = new Set();
  for (const [name, paths] of imports) {
    const layer = layerOf(name);
    if (layer === undefined) errors.push(`${folder}/${name} belongs to no layer`);
    for (const path of layer === undefined || layer === kTop ? [] : paths) {
      const below = layerOf(path);
      used.add(`${layer} uses ${below}`);
      if (below === layer || allowed.includes(`${layer} uses ${below}`) || doors[name] === path)
        continue;
      errors.push(`${folder}/${name} (${layer}) may not ${what} ${path}`);
    }
  }
  const names = [...imports.keys()];
  const empty = idlePatterns(Object.keys(layers), names, (layer, name) => layerOf(name) === layer);
  const unused = allowed.filter((line) => !used.has(line));
  const closed = Object.entries(doors).filter(([name, path]) => !imports.get(name)?.includes(path));
  return [
    ...errors.sort(),
    ...empty.map((layer) => `${folder}: the layer ${layer} has no files`),
    ...[...unused, ...closed.map((door) => door.join(" uses "))].map(
      (line) => `${folder}: the layers allow that ${line}, which nothing does`,
    ),
  ];
}

/** Returns one line per include in src that violates the layers. */
export function findLayeringErrors(source = join(kRoot, "src")) {
  const files = readdirSync(source, { recursive: true }).filter((name) => /\.(h|cpp)$/.test(name));
  const includesIn = (file) =>
    [...readFileSync(join(source, file), "utf8").matchAll(/^#include "([^"]+)"/gm)].map(
      ([, path]) => path,
    );
  const imports = new Map(files.map((file) => [posixPath(file), includesIn(file)]));
  return layeringErrors(imports, kOfSource, { folder: "src", what: "include", doors: kDoors });
}

/** Returns one line per import of a value in web/src that violates the layers; types may come from anywhere. */
export async function findWebLayeringErrors(source = join(kRoot, "web", "src"), layers = kOfWeb) {
  const imports = await valueImports(source);
  return layeringErrors(imports, layers, { folder: "web/src", what: "import values from" });
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

const kSpecifier = /\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g;

/**
 * Returns one line per import of an add-on that is not allowed. Allowed are its own files, those of folders that it shares, `edgegrad` as a
 * user would import it, its peers, and packages that are bundled into it. This includes types, because the declarations are published.
 */
export function findAddonLayeringErrors(addons = kAddonFolders, web = join(kRoot, "web")) {
  return addons.flatMap((addon) => {
    if (!existsSync(join(web, addon))) return [`web/${addon} does not exist`];
    const packages = ["edgegrad", ...packagesOf(addon)];
    const shared = Object.keys(kSharedByAddons).filter((key) =>
      kSharedByAddons[key].includes(addon),
    );
    const isOwn = (path) => [addon, ...shared].some((folder) => path.startsWith(`${folder}/`));
    const names = readdirSync(join(web, addon), { recursive: true }).map(posixPath);
    return names
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => {
        const paths = readFileSync(join(web, addon, name), "utf8").matchAll(kSpecifier);
        const isAllowed = (path) =>
          path.startsWith(".")
            ? isOwn(posix.join(addon, posix.dirname(name), path))
            : packages.includes(path);
        const wrong = [...paths].filter(([, path]) => !isAllowed(path));
        return wrong.map(([, path]) => `web/${addon}/${name} may not import ${path}`);
      });
  });
}

/** The packages and modules that a folder may import; for a shared folder, those that all its add-ons may import. */
function packagesOf(folder) {
  const ofAddon = (name) =>
    [kPeersOfAddon, kBundledInAddon, kNodeModulesOfAddon].flatMap((list) => list[name] ?? []);
  const [first, ...others] = kSharedByAddons[folder] ?? [folder];
  return ofAddon(first).filter((path) => others.every((name) => ofAddon(name).includes(path)));
}

const posixPath = (name) => name.replaceAll("\\", "/");

/** Returns the violations of all layers. */
export async function findAllLayeringErrors() {
  return [
    ...findLayeringErrors(),
    ...(await findWebLayeringErrors()),
    ...findAddonLayeringErrors(),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const errors = await findAllLayeringErrors();
    for (const error of errors) console.error(error);
    return errors.length ? 1 : 0;
  });
}
