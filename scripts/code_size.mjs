// npm run size: where the bytes of the download go. Links one variant with the names of its functions and prints what
// each layer, each family of ops and each dtype costs, in kB after gzip.
//
// A group's share is that of its code compressed alone, scaled so that all groups add up to the code of the module:
// gzip finds less in a part than in the whole.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { buildWasm, buildWeb, kVariants, printBundleSizes } from "./build.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { expected, kRoot, main, quiet, step } from "./process.mjs";
import { wasmEnvironment } from "./toolchain.mjs";

const kDtypes = [
  ["complex", /complex/],
  ["float64", /<double|, double>|double __vector/],
  ["float32", /<float|, float>|float __vector/],
  ["int64", /<long long|, long long>|long long __vector/],
  ["int32", /<int\b|, int>|int __vector/],
  ["uint8", /<unsigned char|, unsigned char/],
  ["bool", /<bool|, bool>/],
];

/** Links the variant again, with function names and a map, and returns both files. */
async function linkWithNames(variant) {
  const folder = join(kRoot, "build", `wasm-${variant}`);
  const options = { cwd: folder, env: await wasmEnvironment() };
  const commandOf = async (target) =>
    (await quiet("ninja", ["-t", "commands", target], options)).trim().split("\n").pop();
  const module = `edgegrad-${variant}-named`;
  const named = `-o ${module}.mjs --profiling-funcs -Wl,--no-demangle,-Map=${module}.map`;
  // Objects by their paths: of an archive's members the map says only the names, which repeat from layer to layer.
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

/** Reads a module: its sections, and the code and name of every function. */
class ModuleReader {
  #bytes;
  #at = 8;
  sections = new Map();
  functions = [];

  constructor(bytes) {
    this.#bytes = bytes;
    const names = new Map();
    let imported = 0;
    while (this.#at < bytes.length) {
      const id = bytes[this.#at++];
      const size = this.#number();
      const end = this.#at + size;
      this.sections.set(id, bytes.subarray(this.#at, end));
      if (id === 0 && this.#text() === "name") this.#readNames(end, names);
      if (id === 2) imported = this.#countImportedFunctions();
      if (id === 10) this.#readFunctions();
      this.#at = end;
    }
    for (const [i, one] of this.functions.entries()) one.name = names.get(i + imported) ?? "";
  }

  #number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  #text() {
    const size = this.#number();
    this.#at += size;
    return this.#bytes.toString("utf8", this.#at - size, this.#at);
  }

  #readNames(end, names) {
    while (this.#at < end) {
      const kind = this.#bytes[this.#at++];
      const size = this.#number();
      const next = this.#at + size;
      if (kind === 1) {
        for (let count = this.#number(); count > 0; --count)
          names.set(this.#number(), this.#text());
      }
      this.#at = next;
    }
  }

  #skipLimits() {
    const hasMaximum = this.#number() & 1;
    this.#number();
    if (hasMaximum) this.#number();
  }

  #countImportedFunctions() {
    let functions = 0;
    for (let count = this.#number(); count > 0; --count) {
      this.#text();
      this.#text();
      const kind = this.#bytes[this.#at++];
      if (kind === 0) functions += 1;
      if (kind === 0) this.#number();
      if (kind === 1) this.#at += 1; // the type of a table's elements
      if (kind === 1 || kind === 2) this.#skipLimits();
      if (kind === 3 || kind === 4) this.#at += 2;
    }
    return functions;
  }

  #readFunctions() {
    for (let count = this.#number(); count > 0; --count) {
      const size = this.#number();
      this.functions.push({ code: this.#bytes.subarray(this.#at, this.#at + size) });
      this.#at += size;
    }
  }
}

/** Which source (relative to the checkout) or library a function came from, by its mangled name. */
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

/** "src/backend/cpu" of src/backend/cpu/nn/softmax.cpp. */
const layerOf = (file) =>
  file.match(/^(bindings|src\/(backend\/)?[^/]+)\//)?.[1] ?? "C and C++ libraries";

const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

function printTable(title, functions, groupOf) {
  const groups = new Map();
  for (const one of functions) {
    const group = groupOf(one);
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(one.code);
  }
  const whole = gzipped(Buffer.concat(functions.map(({ code }) => code)));
  const rows = [...groups].map(([group, codes]) => {
    const code = Buffer.concat(codes);
    return { group, count: codes.length, bytes: code.length, gzip: gzipped(code) };
  });
  const scale = whole / rows.reduce((sum, { gzip }) => sum + gzip, 0);
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

function printDownload(variant, module) {
  const file = (name) => gzipped(readFileSync(join(kRoot, "dist", name)));
  const parts = [
    ["index.js", file("index.js")],
    [`edgegrad-${variant}.mjs`, file(`wasm/edgegrad-${variant}.mjs`)],
    [`edgegrad-${variant}.wasm`, file(`wasm/edgegrad-${variant}.wasm`)],
    ["  of it code", gzipped(module.sections.get(10))],
    ["  of it texts and tables", gzipped(module.sections.get(11))],
  ];
  console.log("\nDownload\n  kB gzip");
  for (const [name, size] of parts)
    console.log(`${(size / 1000).toFixed(1).padStart(8)}   ${name}`);
}

await main(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [variant = "simd"] = positionals;
  if (positionals.length > 1 || !kVariants.includes(variant))
    throw expected(`A variant: one of ${kVariants.join(", ")}`);
  await ensureNodeModules();
  await buildWeb();
  await buildWasm(variant);
  const { wasm, map } = await linkWithNames(variant);
  const module = new ModuleReader(wasm);
  const owners = readOwners(map);
  const readable = demangle(module.functions.map(({ name }) => name));
  for (const [i, one] of module.functions.entries()) {
    // The optimiser numbers its copies.
    one.file = owners.get(one.name) ?? owners.get(one.name.replace(/_\d+$/, "")) ?? "";
    one.layer = layerOf(one.file);
    one.dtype = kDtypes.find(([, pattern]) => pattern.test(readable[i]))?.[0] ?? "no dtype";
  }
  const kernels = module.functions.filter(({ file }) => isKernel(file));
  const ops = module.functions.filter(({ layer }) =>
    ["src/backend/cpu", "src/dispatch", "src/ops"].includes(layer),
  );
  printTable("Layers (code)", module.functions, ({ layer }) => layer);
  printTable("Families of ops: kernels, dispatch and gradients", ops, ({ file }) => familyOf(file));
  printTable("Kernels by dtype", kernels, ({ dtype }) => dtype);
  printDownload(variant, module);
  console.log();
  await printBundleSizes();
});
