// npm run size: prints where the bytes of the download are spent. Links one variant with function names, and prints the
// cost of each layer, each family of ops and each dtype in kB after gzip.
//
// Each group's code is compressed separately and the results are scaled so that they add up to the compressed code of
// the module, because gzip compresses a part less well than the whole.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { buildWasm, kVariants } from "./build.mjs";
import { bundleSizes } from "./building/bundles.mjs";
import { wasmEnvironment } from "./building/toolchain.mjs";
import { ModuleReader } from "./building/wasm_module.mjs";
import { buildWeb, kDist } from "./building/web_build.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { checkPatterns } from "./patterns.mjs";
import { expected, kRoot, main, quiet, step } from "./process.mjs";

const kDtypes = [
  ["complex", /complex/],
  ["float64", /<double|, double>|double __vector/],
  ["float32", /<float|, float>|float __vector/],
  ["int64", /<long long|, long long>|long long __vector/],
  ["int32", /<int\b|, int>|int __vector/],
  ["uint8", /<unsigned char|, unsigned char/],
  ["bool", /<bool|, bool>/],
];

/**
 * Builds the variant again, each source separately, and links it with function names and a map; returns both files. The package's build
 * compiles the sources of a folder together, so it cannot tell from which source a function comes.
 */
async function linkWithNames(variant) {
  const folder = join(kRoot, "build", `size-${variant}`);
  const options = { cwd: kRoot, env: await wasmEnvironment() };
  await step("build each source by itself", async () => {
    const preset = ["--preset", `wasm-${variant}`, "-B", folder, "-DEG_UNITY=OFF"];
    await quiet("cmake", preset, options);
    await quiet("cmake", ["--build", folder, "--target", "edgegrad_wasm"], options);
  });
  options.cwd = folder;
  const commandOf = async (target) =>
    (await quiet("ninja", ["-t", "commands", target], options)).trim().split("\n").pop();
  const module = `edgegrad-${variant}-named`;
  const named = `-o ${module}.mjs --profiling-funcs -Wl,--no-demangle,-Map=${module}.map`;
  // Objects are linked by path: for members of an archive the map lists only file names, which repeat between layers.
  const library = "libedgegrad_core.a";
  const objects = (await commandOf(library)).match(/\S+\.cpp\.o(?= )/g).join(" ");
  const link = (await commandOf("edgegrad_wasm"))
    .replace(`-o edgegrad-${variant}.mjs`, named)
    .replace(library, `-Wl,--start-lib ${objects} -Wl,--end-lib`);
  await step("link with names", () => quiet("sh", ["-c", link], options));
  return {
    wasm: readFileSync(join(folder, `${module}.wasm`)),
    map: readFileSync(join(folder, `${module}.map`), "utf8"),
  };
}

/** Returns the source file (relative to the checkout) or library of every function, by its mangled name. */
function readOwners(map) {
  const owners = new Map();
  for (const line of map.split("\n")) {
    const match = line.match(/^\s*\S+\s+\S+\s+\S+\s+([^\s(]+?)(?:\([^)]*\))?:\((.*)\)$/);
    if (!match) continue;
    const [, file, name] = match;
    const source = file.match(/^CMakeFiles\/\w+\.dir\/(.*)\.o$/)?.[1];
    owners.set(name, source ?? basename(file, ".a"));
  }
  return owners;
}

/** Returns the layer of a file: "src/backend/cpu" for src/backend/cpu/nn/softmax.cpp. */
const layerOf = (file) =>
  file.match(/^(bindings|src\/(backend\/)?[^/]+)\//)?.[1] ?? "C and C++ libraries";

const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

/** `smaller` is the factor by which the order of functions in the module reduces the size; the functions of a group alone lack that order. */
function printTable(title, functions, groupOf, smaller) {
  const groups = new Map();
  for (const body of functions) {
    const group = groupOf(body);
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(body.code);
  }
  const whole = gzipped(Buffer.concat(functions.map(({ code }) => code)));
  const rows = [...groups].map(([group, codes]) => {
    const code = Buffer.concat(codes);
    return { group, count: codes.length, bytes: code.length, gzip: gzipped(code) };
  });
  const scale = (smaller * whole) / rows.reduce((sum, { gzip }) => sum + gzip, 0);
  console.log(`\n${title}\n  kB gzip     kB  functions`);
  for (const { group, count, bytes, gzip } of rows.sort((a, b) => b.gzip - a.gzip)) {
    const columns = [(gzip * scale) / 1000, bytes / 1000].map((kb) => kb.toFixed(1).padStart(8));
    console.log(`${columns.join("")} ${String(count).padStart(8)}   ${group}`);
  }
}

const isKernel = (file) => file.startsWith("src/backend/cpu/") || isElementwise(file);
const isElementwise = (file) => file.startsWith("src/ops/elementwise/kernels_");

function familyOf(file) {
  const stem = basename(file, ".cpp");
  return isElementwise(file) ? `elementwise: ${stem.replace("kernels_", "")}` : stem;
}

function demangle(names) {
  const { stdout } = spawnSync("c++filt", {
    input: names.join("\n"),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  return stdout.split("\n");
}

function printDownload(variant, { sections }) {
  const file = (name) => gzipped(readFileSync(join(kDist, name)));
  const parts = [
    ["index.js", file("index.js")],
    [`edgegrad-${variant}.mjs`, file(`wasm/edgegrad-${variant}.mjs`)],
    [`edgegrad-${variant}.wasm`, file(`wasm/edgegrad-${variant}.wasm`)],
    ["  of which code", gzipped(sections.get(10))],
    ["  of which strings and tables", gzipped(sections.get(11))],
  ];
  console.log("\nDownload\n  kB gzip");
  for (const [name, size] of parts)
    console.log(`${(size / 1000).toFixed(1).padStart(8)}   ${name}`);
}

/** Prints the size of the package's JavaScript in bundles of users' programs. */
async function printBundleSizes() {
  for (const { program, sizes } of await bundleSizes()) {
    const texts = Object.entries(sizes).map(
      ([tool, size]) => `${tool} ${(size / 1000).toFixed(1)}`,
    );
    console.log(`  bundle of ${program}: kB gzipped by ${texts.join(", ")}`);
  }
}

await main(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [variant = "simd"] = positionals;
  if (positionals.length > 1 || !kVariants.includes(variant))
    throw expected(`Unknown variant; expected one of ${kVariants.join(", ")}`);
  await ensureNodeModules();
  await buildWeb();
  await buildWasm(variant);
  const { wasm, map } = await linkWithNames(variant);
  const module = new ModuleReader(wasm);
  const owners = readOwners(map);
  const readable = demangle(module.functions.map(({ name }) => name));
  const dtypes = kDtypes.map(([, pattern]) => pattern);
  checkPatterns(dtypes, readable, "the dtypes in scripts/code_size.mjs");
  for (const [i, body] of module.functions.entries()) {
    // The optimizer appends numbers to its copies of functions.
    body.file = owners.get(body.name) ?? owners.get(body.name.replace(/_\d+$/, "")) ?? "";
    body.layer = layerOf(body.file);
    body.dtype = kDtypes.find(([, pattern]) => pattern.test(readable[i]))?.[0] ?? "no dtype";
  }
  const kernels = module.functions.filter(({ file }) => isKernel(file));
  const ops = module.functions.filter(({ layer }) =>
    ["src/backend/cpu", "src/dispatch", "src/ops"].includes(layer),
  );
  const published = new ModuleReader(readFileSync(join(kDist, "wasm", `edgegrad-${variant}.wasm`)));
  const codeOf = ({ sections }) => gzipped(sections.get(10));
  const print = (title, functions, groupOf) =>
    printTable(title, functions, groupOf, codeOf(published) / codeOf(module));
  print("Layers (code)", module.functions, ({ layer }) => layer);
  print("Families of ops: kernels, dispatch and gradients", ops, ({ file }) => familyOf(file));
  print("Kernels by dtype", kernels, ({ dtype }) => dtype);
  printDownload(variant, published);
  console.log();
  await printBundleSizes();
});
