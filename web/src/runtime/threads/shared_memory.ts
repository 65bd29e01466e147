// How much memory an engine may take, and the memory that its threads share.

import { nodeProcess } from "../host/node.js";
import { ThreadsFailure } from "./workers.js";

/** The unit in which memory grows. */
export const kPageBytes = 65536;

/** The size of the memory at the start. The WebAssembly module requires at least this. */
const kInitialPages = 512;

/**
 * The sizes up to which the memory may grow, in MiB. Address space for the largest is reserved at once, which iOS and systems with
 * limited address space refuse; smaller ones are then tried in turn.
 */
const kMaximumMegabytes = [4096, 2048, 1024, 512, 256];

/** The bytes of memory with which an engine starts, which is the smallest allowed maximum. */
export const kSmallestMaximum = kInitialPages * kPageBytes;

/** The number of bytes that WebAssembly can address, which is the largest allowed maximum. */
export const kLargestMaximum = 2 ** 32;

/** In a container with little memory, the bytes reserved for the rest of the program; at most half of the limit is reserved. */
const kBeside = 2 ** 27;

/** Returns the default maximum: 4 GiB, or less in a container, whose system kills programs that exceed its limit. */
export function defaultMaximum(): number {
  // Without a limit, this is 0 or larger than all memory.
  const limit = nodeProcess()?.constrainedMemory?.() ?? 0;
  if (!(limit > 0 && limit < kLargestMaximum)) return kLargestMaximum;
  return Math.max(limit - kBeside, limit / 2, kSmallestMaximum);
}

/**
 * Allocates shared memory with the largest maximum up to `most` bytes that is available. Throws ThreadsFailure when none is.
 */
export function allocateSharedMemory(most: number): WebAssembly.Memory {
  let refusal: unknown;
  const smaller = kMaximumMegabytes.map((megabytes) => megabytes * 2 ** 20);
  const tried = [most, ...smaller.filter((bytes) => bytes < most)];
  for (const bytes of tried) {
    const maximum = Math.floor(bytes / kPageBytes);
    try {
      return new WebAssembly.Memory({ initial: kInitialPages, maximum, shared: true });
    } catch (error) {
      // An out-of-memory error is a RangeError.
      if (!(error instanceof RangeError)) throw error;
      refusal = error;
    }
  }
  const least = Math.floor(Math.min(...tried) / 2 ** 20);
  throw new ThreadsFailure(
    "OutOfMemory",
    `[init] not even ${least} MiB of shared memory can be reserved: ${(refusal as Error).message}. Close other pages or ` +
      'programs, or use variant "single".',
    { cause: refusal },
  );
}
