// The memory that the threads of an engine share.

import { ThreadsFailure } from "./workers.js";

const kPageBytes = 65536;

/** The size of the memory at the start. The WebAssembly module requires at least this. */
const kInitialPages = 512;

/**
 * The sizes up to which the memory may grow, in MiB. Address space for the largest is reserved at once, which iOS and systems with
 * limited address space refuse; smaller ones are then tried in turn.
 */
const kMaximumMegabytes = [4096, 2048, 1024, 512, 256];

/** Allocates shared memory with the largest maximum that is available. Throws ThreadsFailure when none is. */
export function allocateSharedMemory(): WebAssembly.Memory {
  let refusal: unknown;
  for (const megabytes of kMaximumMegabytes) {
    const maximum = (megabytes * 2 ** 20) / kPageBytes;
    try {
      return new WebAssembly.Memory({ initial: kInitialPages, maximum, shared: true });
    } catch (error) {
      // An out-of-memory error is a RangeError.
      if (!(error instanceof RangeError)) throw error;
      refusal = error;
    }
  }
  const least = kMaximumMegabytes.at(-1);
  throw new ThreadsFailure(
    "OutOfMemory",
    `[init] not even ${least} MiB of shared memory can be reserved: ${(refusal as Error).message}. Close other pages or ` +
      'programs, or use variant "single".',
    { cause: refusal },
  );
}
