// Every public name has one definition: two modules that web/src/index.ts re-exports as a whole never export the same name,
// and a line of index.ts never exports a name of such a module, which it would silently replace.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kWebBundle } from "../building/web_bundle.mjs";
import { idlePatterns } from "../patterns.mjs";
import { kRoot } from "../process.mjs";

/** Ops of the engine that index.ts exports in an extended form, and how they are extended. */
const kExtended = {
  fft: "is also the namespace of all transforms",
  full: "infers the dtype from the value",
  interpolate: "averages with antialias",
  linspace: "takes complex ends",
  nonzero: "returns one tensor per axis with asTuple",
  view: "reads memory as another dtype, too",
  randint: "takes ends of 64 bits",
  where: "accepts a condition alone",
};

const kSource = join(kRoot, "web", "src");

/** Returns one line per name with several definitions. */
export async function findNamesDefinedTwice() {
  const index = readFileSync(join(kSource, "index.ts"), "utf8");
  const modules = [...index.matchAll(/^export \* from "\.\/(.*)\.js";/gm)];
  const homes = new Map();
  for (const [module, names] of [
    // esbuild does not look into modules unless it bundles, so these are the names that lines of index.ts export.
    ...(await exportsOf(["index.ts"], { bundle: false, external: undefined })),
    ...(await exportsOf(modules.map(([, path]) => `${path}.ts`))),
  ]) {
    for (const name of names) homes.set(name, [...(homes.get(name) ?? []), module]);
  }
  const twice = [...homes].filter(([, modules]) => modules.length > 1);
  const isOf = (name, [other]) => name === other;
  return [
    ...twice
      .filter(([name]) => !Object.hasOwn(kExtended, name))
      .map(([name, modules]) => `web/src: ${name} is exported by ${modules.join(" and ")}`),
    ...idlePatterns(Object.keys(kExtended), twice, isOf).map(
      (name) => `web/src: ${name} is exported once; kExtended names it`,
    ),
  ];
}

async function exportsOf(entryPoints, options) {
  const { build } = await import("esbuild");
  const places = { absWorkingDir: kSource, outdir: "unused", write: false };
  const { metafile } = await build({
    ...kWebBundle,
    ...places,
    entryPoints,
    metafile: true,
    ...options,
  });
  return Object.values(metafile.outputs).map((output) => [output.entryPoint, output.exports]);
}
