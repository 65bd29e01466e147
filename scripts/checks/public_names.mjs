// Every public name has one definition: two modules that web/src/index.ts re-exports as a whole never export the same name,
// and a line of index.ts never exports a name of such a module, which it would silently replace.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";
import { kWebBundle } from "../web_bundle.mjs";

/** Ops of the engine that index.ts exports in an extended form, and what they do beyond it. */
const kExtended = {
  fft: "is also the namespace of all transforms",
  full: "infers the dtype from the value",
  where: "accepts a condition alone",
};

const kSource = join(kRoot, "web", "src");

/** Returns one line per name with several definitions. */
export async function findNamesDefinedTwice() {
  const index = readFileSync(join(kSource, "index.ts"), "utf8");
  const modules = [...index.matchAll(/^export \* from "\.\/(.*)\.js";/gm)].map(([, path]) => path);
  const exported = await exportsOf(modules);
  exported.set("index.ts", ownNames(index));
  const homes = new Map();
  for (const [module, names] of exported)
    for (const name of names) homes.set(name, [...(homes.get(name) ?? []), module]);
  return [...homes]
    .filter(([name, modules]) => modules.length > 1 && !Object.hasOwn(kExtended, name))
    .map(([name, modules]) => `web/src: ${name} is exported by ${modules.join(" and ")}`);
}

async function exportsOf(modules) {
  const { build } = await import("esbuild");
  const found = new Map();
  for (const module of modules) {
    const { metafile } = await build({
      ...kWebBundle,
      entryPoints: [join(kSource, `${module}.ts`)],
      write: false,
      metafile: true,
    });
    found.set(module, Object.values(metafile.outputs)[0].exports);
  }
  return found;
}

// Names of values in `export { a, b as c } from` and `export * as d from`.
function ownNames(index) {
  const lists = [...index.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list]) => list.split(","));
  const values = lists
    .map((item) => item.trim())
    .filter((item) => item && !item.startsWith("type "));
  const namespaces = [...index.matchAll(/^export \* as (\w+)/gm)].map(([, name]) => name);
  return [...values.map((item) => item.split(" as ").at(-1)), ...namespaces];
}
