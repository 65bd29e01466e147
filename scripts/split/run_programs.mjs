// Runs the programs of programs.mjs in a separate Node process: `node run_programs.mjs wasm variant threads functions seeds`. Writes the
// first `functions` bytes of the memory to standard output, where an instrumented module records which functions ran.

import { writeSync } from "node:fs";
import { runPrograms } from "./programs.mjs";

const [wasmUrl, variant, threads, functions, seeds, ...names] = process.argv.slice(2);

let memory;
let native;
const { Memory, instantiate } = WebAssembly;
WebAssembly.Memory = class extends Memory {
  constructor(descriptor) {
    super(descriptor);
    memory = this;
  }
};
// Without threads, the module creates its own memory.
WebAssembly.instantiate = async (...given) => {
  const result = await instantiate(...given);
  native = (result.instance ?? result).exports;
  memory ??= native.memory;
  return result;
};

const eg = await import("../../dist/index.js");
await eg.init({ variant, threads: Number(threads), wasmUrl });
for (let seed = 0; seed < Number(seeds); ++seed)
  await runPrograms(eg, seed, names.length ? names : undefined);
loadParts();
await eg.shutdown();
writeSync(1, new Uint8Array(memory.buffer).slice(0, Number(functions)));

// Runs the code of the core that loads other parts, and that fails without them.
function loadParts() {
  // Without threads there is nothing to share.
  native.eg_allocatePart?.(2 ** 20);
  native.eg_sharedParts?.();
  try {
    native.eg_failWithoutPart(native.eg_frame(1), 1);
  } catch {
    // As expected.
  }
}
