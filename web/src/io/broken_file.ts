// Problems with files from untrusted sources. Readers call reject(), and the function that the program called says where.

import { EdgeGradError, fail } from "../runtime/errors/errors.js";

class BrokenFile extends Error {}

/** Reports a problem with a file; must be called inside reading() or readingLater(). */
export function reject(problem: string): never {
  throw new BrokenFile(problem);
}

/** Calls `read`, and turns the error of reject() into an EdgeGradError of `where`. */
export function reading<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw errorFor(where, error);
  }
}

/** Like reading(), for a function that returns a promise. */
export async function readingLater<T>(where: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw errorFor(where, error);
  }
}

function errorFor(where: string, error: unknown): unknown {
  if (!(error instanceof BrokenFile)) return error;
  return new EdgeGradError("InvalidArgument", `[${where}] invalid file: ${error.message}`);
}

/** Throws InvalidArgument for a source that could not be read, with the error of the platform as its cause. */
export function failToRead(where: string, name: string, error: unknown): never {
  if (EdgeGradError.isOne(error) || error instanceof BrokenFile) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  const message = `[${where}] ${JSON.stringify(name)} cannot be read: ${reason}.`;
  throw new EdgeGradError("InvalidArgument", message, { cause: error });
}

/** Throws Disposed for a source that has been closed. */
export function failClosed(where: string): never {
  fail("Disposed", where, "this file has been closed. Open it again to read more tensors.");
}
