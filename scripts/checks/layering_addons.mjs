// What add-ons (web/<name>) may import: their own files, those of folders that they share, `edgegrad` as a user would, their peers and the
// packages bundled into them. This holds for types too, because the declarations of an add-on are published beside it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import {
  kAddons,
  kBundledInAddon,
  kNodeModulesOfAddon,
  kPeersOfAddon,
  kSharedByAddons,
} from "../addons.mjs";
import { kRoot, main } from "../process.mjs";
import { circles } from "./layering_web.mjs";

const kSpecifier = /\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g;
const kTypesOnly = /\bimport type\b[^;]*$/;

/** Returns one line per import of an add-on that leaves it, and one per cycle of files. */
export function findAddonLayeringErrors(addons = kAddons, web = join(kRoot, "web")) {
  return [...addons, ...Object.keys(kSharedByAddons)]
    .filter((name) => existsSync(join(web, name)))
    .flatMap((name) => errorsOf(name, web))
    .sort();
}

/** The packages and modules that a folder may import: of a shared folder, those that all its add-ons may. */
function packagesOf(folder) {
  const ofAddon = (name) =>
    [kPeersOfAddon, kBundledInAddon, kNodeModulesOfAddon].flatMap((list) => list[name] ?? []);
  const [first, ...others] = kSharedByAddons[folder] ?? [folder];
  return ofAddon(first).filter((path) => others.every((name) => ofAddon(name).includes(path)));
}

function errorsOf(addon, web) {
  const errors = [];
  const packages = packagesOf(addon);
  const isShared = (target) =>
    Object.entries(kSharedByAddons).some(
      ([folder, addons]) => target.startsWith(`../${folder}/`) && addons.includes(addon),
    );
  const values = new Map();
  const names = readdirSync(join(web, addon), { recursive: true });
  for (const name of names.filter((one) => one.endsWith(".ts")).map(posixPath)) {
    const text = readFileSync(join(web, addon, name), "utf8");
    const inner = [];
    for (const { 0: found, 1: path, index } of text.matchAll(kSpecifier)) {
      if (path === "edgegrad" || packages.includes(path)) continue;
      const target = posix.join(posix.dirname(name), path).replace(/\.js$/, ".ts");
      if (path.startsWith(".") && isShared(target)) continue;
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
