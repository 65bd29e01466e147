// What add-ons (web/<name>) may import: their own files, `edgegrad` as a user would, their peers and the packages bundled into them. This
// holds for types too, because the declarations of an add-on are published beside it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { kAddons, kBundledInAddon, kPeersOfAddon } from "../addons.mjs";
import { kRoot, main } from "../process.mjs";
import { circles } from "./layering_web.mjs";

const kSpecifier = /\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g;
const kTypesOnly = /\bimport type\b[^;]*$/;

/** Returns one line per import of an add-on that leaves it, and one per cycle of files. */
export function findAddonLayeringErrors(addons = kAddons, web = join(kRoot, "web")) {
  return addons
    .filter((name) => existsSync(join(web, name)))
    .flatMap((name) => errorsOf(name, web))
    .sort();
}

function errorsOf(addon, web) {
  const errors = [];
  const values = new Map();
  const names = readdirSync(join(web, addon), { recursive: true });
  for (const name of names.filter((one) => one.endsWith(".ts")).map(posixPath)) {
    const text = readFileSync(join(web, addon, name), "utf8");
    const inner = [];
    for (const { 0: found, 1: path, index } of text.matchAll(kSpecifier)) {
      const packages = [kPeersOfAddon, kBundledInAddon].flatMap((list) => list[addon] ?? []);
      if (path === "edgegrad" || packages.includes(path)) continue;
      const target = posix.join(posix.dirname(name), path).replace(/\.js$/, ".ts");
      if (!path.startsWith(".") || target.startsWith("..")) {
        errors.push(`web/${addon}/${name} may not import ${path}`);
      } else if (!kTypesOnly.test(text.slice(0, index + found.length))) {
        inner.push(target);
      }
    }
    values.set(name, inner);
  }
  return [...errors, ...circles(values, `web/${addon}`)];
}

const posixPath = (name) => name.replaceAll("\\", "/");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    const errors = findAddonLayeringErrors();
    for (const error of errors) console.error(error);
    return errors.length ? 1 : 0;
  });
}
