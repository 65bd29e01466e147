// npm run build: the package's dist/. `node scripts/build.mjs [relaxed] [simd] [single] [web]` builds only those.

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
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundlable, unfollowed } from "./bundlable.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { orderFunctions } from "./function_order.mjs";
import { buildPreset } from "./preset.mjs";
import { expected, kRoot, main, quiet, step } from "./process.mjs";
import { wasmOptimizer } from "./toolchain.mjs";

export const kVariants = ["relaxed", "simd", "single"];
const kDist = join(kRoot, "dist");

/** The variant that this Node picks: relaxed SIMD is on by default from Node 22. */
export function nodeVariant() {
  return Number.parseInt(process.versions.node, 10) >= 22 ? "relaxed" : "simd";
}

/** Builds one WebAssembly variant into dist/wasm. */
export async function buildWasm(variant) {
  const folder = await buildPreset(`wasm-${variant}`, "edgegrad_wasm");
  mkdirSync(join(kDist, "wasm"), { recursive: true });
  const script = readFileSync(join(folder, `edgegrad-${variant}.mjs`), "utf8");
  writeFileSync(
    join(kDist, "wasm", `edgegrad-${variant}.mjs`),
    await bundlable(script, variant !== "single"),
  );
  const module = join(folder, `edgegrad-${variant}.wasm`);
  const ordered = join(folder, `edgegrad-${variant}.ordered.wasm`);
  if (!isNewer(ordered, module)) {
    await step(`order the functions of ${variant}`, async () =>
      orderFunctions(module, ordered, await wasmOptimizer()),
    );
  }
  copyFileSync(ordered, join(kDist, "wasm", `edgegrad-${variant}.wasm`));
}

function isNewer(file, source) {
  return existsSync(file) && statSync(file).mtimeMs >= statSync(source).mtimeMs;
}

/** Bundles web/src into dist/index.js, and what only WebGPU needs into a chunk beside it; writes the declarations. */
export async function buildWeb() {
  const source = join(kRoot, "web", "src");
  if (!existsSync(join(source, "index.ts"))) return console.log("  web: no web/src/index.ts yet");
  await step("build web", async () => {
    removeOldFiles();
    await bundle(join(source, "index.ts"), join(kDist, "index.js"));
    await bundle(join(source, "webgpu", "index.ts"), join(kDist, "wasm", "edgegrad-webgpu.js"));
    const tsc = join(kRoot, "node_modules", "typescript", "bin", "tsc");
    const options = [
      "--declaration",
      "--emitDeclarationOnly",
      "--noEmit",
      "false",
      "--outDir",
      kDist,
    ];
    await quiet(process.execPath, [tsc, "--project", kRoot, ...options], { cwd: kRoot });
  });
}

// What an earlier build left of sources that are gone would be published. The folder wasm has fixed names.
function removeOldFiles() {
  if (!existsSync(kDist)) return;
  for (const name of readdirSync(kDist).filter((name) => name !== "wasm")) {
    rmSync(join(kDist, name), { recursive: true });
  }
}

async function bundle(entry, outfile) {
  const { build } = await import("esbuild");
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    minify: true,
    // One line, as the mark below asks for.
    supported: { "template-literal": false },
    keepNames: true,
    sourcemap: true,
    external: ["./wasm/*", "node:*", "webgpu"],
    loader: { ".wgsl": "text" },
    logLevel: "error",
  });
  finish(outfile);
}

// Node prints the line an uncaught error comes from, which would be the whole package, unless the line has
// these words.
function finish(file) {
  const [code, ...rest] = readFileSync(file, "utf8").split("\n");
  if (rest.length > 2) throw new Error(`${file} has ${rest.length} lines where one was expected`);
  writeFileSync(
    file,
    [`${unfollowed(code)} // node-do-not-add-exception-line`, ...rest].join("\n"),
  );
}

/** Prints what a user downloads: the JavaScript and one variant, compressed. */
function printSizes(variants) {
  const gzipped = (...files) =>
    files.reduce((sum, file) => sum + gzipSync(readFileSync(join(kDist, file))).length, 0);
  const chunk = "wasm/edgegrad-webgpu.js";
  if (existsSync(join(kDist, chunk)))
    console.log(`  webgpu: ${(gzipped(chunk) / 1000).toFixed(0)} kB gzipped more (${chunk})`);
  for (const variant of variants) {
    const files = ["index.js", `wasm/edgegrad-${variant}.mjs`, `wasm/edgegrad-${variant}.wasm`];
    const there = files.filter((file) => existsSync(join(kDist, file)));
    console.log(
      `  ${variant}: ${(gzipped(...there) / 1000).toFixed(0)} kB gzipped (${there.join(", ")})`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const parts = process.argv.slice(2);
    const unknown = parts.find((part) => ![...kVariants, "web"].includes(part));
    if (unknown) throw expected(`Unknown part "${unknown}": one of ${kVariants.join(", ")}, web`);
    const variants = parts.length
      ? kVariants.filter((variant) => parts.includes(variant))
      : kVariants;
    await ensureNodeModules();
    for (const variant of variants) await buildWasm(variant);
    if (parts.length === 0 || parts.includes("web")) await buildWeb();
    printSizes(variants);
  });
}
