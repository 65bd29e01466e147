// The choice between the three WebAssembly builds.

import { kWorkers } from "../../files.js";
import { fail } from "../errors/errors.js";
import { nodeProcess } from "../host/node.js";
import { fastestVariant, hasRelaxedSimd, hasThreads, type Variant } from "./builds.js";

// "edgegrad/single" contains no other build.
function isSingle(): boolean {
  return kWorkers.simd === undefined;
}

/** Returns the variant to load; throws InvalidArgument in the name of `where` when the requested one cannot run here. */
export function chooseVariant(wanted: Variant | "auto", where = "init"): Variant {
  if (wanted === "auto") {
    return isSingle() ? "single" : fastestVariant();
  }
  if (wanted !== "single" && isSingle()) {
    fail(
      "InvalidArgument",
      where,
      `variant "${wanted}" is not in edgegrad/single: import "edgegrad", or leave variant out.`,
    );
  }
  if (wanted !== "single" && !hasThreads()) {
    fail(
      "InvalidArgument",
      where,
      `variant "${wanted}" needs threads, and so workers and shared memory. In a page they require the headers ` +
        "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp. " +
        'Add them, or use variant "single" or "auto".',
    );
  }
  if (wanted === "relaxed" && !hasRelaxedSimd()) {
    fail(
      "InvalidArgument",
      where,
      'variant "relaxed" needs relaxed SIMD, which this JavaScript engine does not have. ' +
        'Use variant "simd" or "auto".',
    );
  }
  return wanted;
}

/** Returns the default number of threads. */
export function defaultThreads(): number {
  // Chromium's; in GiB, at most 8.
  const { deviceMemory } = (globalThis.navigator ?? {}) as { deviceMemory?: number };
  const isSmall = deviceMemory !== undefined && deviceMemory <= kSmallMemory;
  return Math.min(availableParallelism(), isSmall ? kThreadsOfSmall : kMaxDefaultThreads);
}

/** On a machine with at most so much memory, in GiB, there are at most so many threads by default: each needs a stack and a worker. */
const kSmallMemory = 4;
const kThreadsOfSmall = 4;

// The start-up time and memory of more threads than this do not pay off for small models.
const kMaxDefaultThreads = 8;

function availableParallelism(): number {
  const node = nodeProcess()?.getBuiltinModule("node:os");
  const available = node?.availableParallelism() ?? globalThis.navigator?.hardwareConcurrency;
  // Browsers and extensions that prevent fingerprinting report 0 or undefined.
  return Math.max(1, Math.floor(Number(available)) || 1);
}
