// npm run build: builds the package's dist/. `node scripts/build.mjs [relaxed] [simd] [single] [web]` builds only those
// parts.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { kAddons } from "./addons.mjs";
import { bundlable } from "./building/bundlable.mjs";
import { orderFunctions } from "./building/function_order.mjs";
import { buildPreset } from "./building/preset.mjs";
import { binaryenFolder } from "./building/toolchain.mjs";
import { addonEntryFiles, addonLaterFiles, buildWeb, kDist } from "./building/web_build.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { expected, kRoot, main, step } from "./process.mjs";
import { split } from "./split/index.mjs";
import { kPartNames } from "./split/parts.mjs";

export const kVariants = ["relaxed", "simd", "single"];
const kSplit = join(kRoot, "scripts", "split");

/** Returns the names of a variant's WebAssembly files: one with everything, and the parts. */
export function wasmFiles(variant) {
  const parts = ["core", ...kPartNames].map((part) => `edgegrad-${variant}.${part}.wasm`);
  return [`edgegrad-${variant}.wasm`, ...parts];
}

/** Returns the variant that this Node.js selects: relaxed SIMD is on by default from Node 22. */
export function nodeVariant() {
  return Number.parseInt(process.versions.node, 10) >= 22 ? "relaxed" : "simd";
}

const distFile = (name) => join(kDist, "wasm", name);

/** Builds the whole package if a part of it is missing, as in a checkout where only `npm start` has run. */
export async function ensurePackage() {
  const files = [join(kDist, "index.js"), ...kVariants.flatMap(wasmFiles).map(distFile)];
  if (!files.every(existsSync)) await buildPackage();
}

/** Builds the whole package. */
export function buildPackage() {
  return buildVariants(kVariants, buildWeb());
}

/**
 * Builds WebAssembly variants; `web` is a promise of dist/index.js. Compiling uses all cores and the rest little more than one, so the rest
 * is done while the next variant is compiled.
 */
async function buildVariants(variants, web) {
  // A failure is reported where it is awaited.
  const started = (work) => {
    work.catch(() => {});
    return work;
  };
  started(web);
  const finished = [];
  for (const variant of variants) {
    const folder = await compile(variant);
    await web;
    finished.push(started(finish(variant, folder)));
  }
  await Promise.all([web, ...finished]);
}

/** Builds what this Node.js loads: the scripts and one WebAssembly file. Pages need the whole package. */
export async function buildForNode() {
  // On a new machine, npm's packages are downloaded while the compiler is installed.
  const packages = ensureNodeModules();
  const compiled = compile(nodeVariant());
  await Promise.all([packages.then(buildWeb), compiled]);
  await copyModule(nodeVariant(), await compiled);
  writePlaceholders();
}

/** Builds one WebAssembly variant into dist/wasm, whole and in parts; dist/index.js must exist, because training programs determine the core. */
export async function buildWasm(variant) {
  await finish(variant, await compile(variant));
}

/** Writes a variant that was built in a folder into dist/wasm, whole and in parts. */
async function finish(variant, folder) {
  const { linked, module, parts } = await copyModule(variant, folder);
  if (!areNewer(parts, module)) {
    const [ordered] = parts;
    mkdirSync(dirname(ordered), { recursive: true });
    const tools = await binaryenFolder();
    await step(`order the functions of ${variant}`, () =>
      orderFunctions(module, ordered, join(tools, "wasm-opt")),
    );
    const fileOf = (part) => join(dirname(ordered), `edgegrad-${variant}.${part}.wasm`);
    await step(`split ${variant} into a core and other parts`, () =>
      split({ module, linked, fileOf, tools, variant }),
    );
  }
  copyToDist(parts);
}

const copyToDist = (files) => {
  for (const file of files) copyFileSync(file, distFile(basename(file)));
};

/** Compiles and links a variant; returns its build folder. */
const compile = (variant) => buildPreset(`wasm-${variant}`, "edgegrad_wasm");

/** Copies a variant from its build folder into dist/wasm; returns its files in the build folder. */
async function copyModule(variant, folder) {
  mkdirSync(join(kDist, "wasm"), { recursive: true });
  const script = readFileSync(join(folder, `edgegrad-${variant}.mjs`), "utf8");
  writeFileSync(distFile(`edgegrad-${variant}.mjs`), await bundlable(script, variant !== "single"));
  const module = join(folder, `edgegrad-${variant}.wasm`);
  const linked = join(folder, `edgegrad-${variant}.linked.wasm`);
  const parts = wasmFiles(variant).map((name) => join(folder, "parts", name));
  if (areNewer(parts, module)) {
    copyToDist(parts);
  } else {
    // Parts of an earlier module do not fit the new script.
    for (const file of parts) rmSync(distFile(basename(file)), { force: true });
    copyToDist([module]);
  }
  return { linked, module, parts };
}

/** True if the parts exist and are newer than their module and the scripts that write them. */
function areNewer(parts, module) {
  const time = (path) => statSync(path).mtimeMs;
  const sources = [module, ...readdirSync(kSplit).map((name) => join(kSplit, name))];
  return parts.every(
    (file) => existsSync(file) && sources.every((source) => time(file) >= time(source)),
  );
}

/**
 * Bundlers fail with the name of what they cannot resolve, so the scripts of variants that are not built import the advice. Node.js
 * does not load them.
 */
function writePlaceholders() {
  for (const variant of kVariants) {
    const script = distFile(`edgegrad-${variant}.mjs`);
    if (!existsSync(script))
      writeFileSync(
        script,
        `import "edgegrad is built for Node.js only: pages need npm run build in ${kRoot}";\n`,
      );
  }
}

/** Prints the size of a user's download: the JavaScript and one variant, compressed. */
function printSizes(variants) {
  const gzipped = (...files) =>
    files.reduce((sum, file) => sum + gzipSync(readFileSync(join(kDist, file))).length, 0);
  const chunk = "wasm/edgegrad-webgpu.js";
  if (existsSync(join(kDist, chunk)))
    console.log(
      `  webgpu: ${(gzipped(chunk) / 1000).toFixed(0)} kB gzipped in addition (${chunk})`,
    );
  for (const name of kAddons.filter((addon) => existsSync(join(kDist, addon, "index.js")))) {
    const [size, later] = [addonEntryFiles(name), addonLaterFiles(name)].map((files) =>
      (gzipped(...files) / 1000).toFixed(1),
    );
    console.log(
      `  ${name}: ${size} kB gzipped in addition (${name}/index.js and what it imports), ${later} kB in files loaded later`,
    );
  }
  for (const variant of variants) {
    const files = [`wasm/edgegrad-${variant}.mjs`, `wasm/edgegrad-${variant}.wasm`];
    const sizes = ["core", ...kPartNames].map((part) => {
      const size = gzipped(`wasm/edgegrad-${variant}.${part}.wasm`);
      return `${part} ${(size / 1000).toFixed(0)}`;
    });
    console.log(
      `  ${variant}: ${(gzipped(...files) / 1000).toFixed(0)} kB gzipped (${files.join(", ")}); in parts: ${sizes.join(", ")}`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const parts = process.argv.slice(2);
    const unknown = parts.find((part) => ![...kVariants, "web"].includes(part));
    if (unknown)
      throw expected(`Unknown part "${unknown}"; expected ${kVariants.join(", ")} or web`);
    const variants = parts.length
      ? kVariants.filter((variant) => parts.includes(variant))
      : kVariants;
    await ensureNodeModules();
    const hasWeb = parts.length === 0 || parts.includes("web");
    const needsWeb = hasWeb || !existsSync(join(kDist, "index.js"));
    await buildVariants(variants, needsWeb ? buildWeb() : Promise.resolve());
    printSizes(variants);
  });
}
