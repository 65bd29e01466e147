// Orders the functions in a WebAssembly module. The window of gzip is 32 kB, so a function compresses better after
// functions that are similar to it; the linker's order does not take this into account.

import { readFileSync, writeFileSync } from "node:fs";
import { quiet } from "../process.mjs";
import { kSection, leb, ModuleReader, section, textBytes, vectorBytes } from "./wasm_module.mjs";

const kWindow = 32 * 1024;
const kRunLength = 6;
// An exponent below 1: of two functions with the same known fraction, the larger one comes first.
const kSizePower = 0.75;

// The ID of the subsection of a name section with the names of functions.
const kFunctionNames = 1;

/** Binaryen's options for the features that the modules use; it rejects code that uses any other. */
export const kFeatures = [
  "bulk-memory",
  "exception-handling",
  "mutable-globals",
  "nontrapping-float-to-int",
  "relaxed-simd",
  "sign-ext",
  "simd",
  "threads",
].map((name) => `--enable-${name}`);

/** Reads a module from one file and writes it to another, with its functions in the order that compresses best. */
export async function orderFunctions(from, to, wasmOpt) {
  const module = readFileSync(from);
  const unordered = `${to}.named`;
  writeFileSync(unordered, withOrderAsNames(module, compressibleOrder(module)));
  const passes = ["--reorder-functions-by-name", "--strip-debug"];
  // Without these options, Binaryen skips the last step of its optimization.
  passes.push("--optimize-stack-ir", "--optimize-level=3", "--shrink-level=1");
  await quiet(wasmOpt, [unordered, ...kFeatures, ...passes, "-o", to]);
}

/**
 * Returns the indices of a module's own functions, each placed after those it has most in common with. Greedy: the next
 * function is the one with the largest fraction of its bytes already in the last 32 kB.
 */
export function compressibleOrder(module) {
  const bodies = new ModuleReader(module).functions.map(({ code }) => code);
  const { runs, holders } = runsOf(bodies);
  const inWindow = new Int32Array(holders.length);
  // The number of a function's runs in the window.
  const shared = new Int32Array(bodies.length);
  const enter = (run) => {
    if (inWindow[run]++ === 0) for (const index of holders[run]) ++shared[index];
  };
  const leave = (run) => {
    if (--inWindow[run] === 0) for (const index of holders[run]) --shared[index];
  };

  const sizes = runs.map(({ length }) => length ** kSizePower);
  const waiting = new Set(bodies.keys());
  const order = [];
  let bytes = 0;
  for (let oldest = 0; waiting.size > 0; ) {
    let best = -1;
    let largest = -1;
    for (const index of waiting) {
      const part = shared[index] / Math.max(1, sizes[index]);
      if (part > largest) [best, largest] = [index, part];
    }
    waiting.delete(best);
    order.push(best);
    bytes += bodies[best].length;
    runs[best].forEach(enter);
    for (; bytes > kWindow && oldest < order.length - 1; ++oldest) {
      bytes -= bodies[order[oldest]].length;
      runs[order[oldest]].forEach(leave);
    }
  }
  return order;
}

/** Returns the distinct runs of six bytes in each body, numbered, and the bodies that contain each run. */
function runsOf(bodies) {
  const numbers = new Map();
  const holders = [];
  const runs = bodies.map((body, index) => {
    const own = new Set();
    for (let at = 0; at + kRunLength <= body.length; ++at) {
      const run = body.readUIntBE(at, kRunLength);
      let number = numbers.get(run);
      if (number === undefined) {
        number = holders.push([]) - 1;
        numbers.set(run, number);
      }
      if (own.has(number)) continue;
      own.add(number);
      holders[number].push(index);
    }
    return [...own];
  });
  return { runs, holders };
}

/**
 * Returns the module with a section that names its functions by their positions in `order`, for a tool that sorts
 * functions by name.
 */
export function withOrderAsNames(module, order) {
  const names = [];
  order.forEach((index, position) => {
    names[index] = `f${String(position).padStart(6, "0")}`;
  });
  return withNames(module, names);
}

/** Returns the module with names for its own functions. */
export function withNames(module, names) {
  const reader = new ModuleReader(module);
  const { importedFunctions } = reader;
  const functions = vectorBytes(
    names.map((name, index) => [...leb(importedFunctions + index), ...textBytes(name)]),
  );
  const content = [...textBytes("name"), kFunctionNames, ...leb(functions.length), ...functions];
  return reader.with({ name: section(kSection.custom, content) });
}
