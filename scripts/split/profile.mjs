// Which functions of a module run in the programs of programs.mjs. Binaryen's instrumented module writes a byte for each function
// that runs to the start of its memory, which the linker leaves unused (GLOBAL_BASE in cmake/WasmModule.cmake).

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const kProgram = fileURLToPath(new URL("run_programs.mjs", import.meta.url));
const kSeeds = 60;

/**
 * Returns a byte for each of the module's functions, which is not 0 if it ran in the programs with these names. `wasm` is the path
 * of the instrumented module.
 */
export async function profile(wasm, variant, functions, names) {
  // On one thread, and with a pool, whose threads run additional code.
  const runs = variant === "single" ? [1] : [1, 3];
  const records = await Promise.all(
    runs.map((threads) => record([wasm, variant, threads, functions, kSeeds, ...names])),
  );
  return records[0].map((_, index) => Math.max(...records.map((record) => record[index])));
}

function record(options) {
  return new Promise((resolve, reject) => {
    const flags = [];
    if (options[1] === "relaxed" && Number.parseInt(process.versions.node, 10) < 22)
      flags.push("--experimental-wasm-relaxed-simd");
    const child = spawn(process.execPath, [...flags, kProgram, ...options.map(String)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = [];
    const errors = [];
    child.stdout.on("data", (chunk) => output.push(chunk));
    child.stderr.on("data", (chunk) => errors.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      const bytes = Buffer.concat(output);
      if (code === 0 && bytes.length === options[3]) resolve(bytes);
      else
        reject(new Error(`the programs that determine the core failed:\n${Buffer.concat(errors)}`));
    });
  });
}
