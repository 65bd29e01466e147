// The errors of this add-on, which are those of the package.

import { EdgeGradError, type ErrorCode } from "edgegrad";

/** The most characters of a message: files choose the names in it. */
const kMostCharacters = 10_000;

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  const isLong = message.length > kMostCharacters;
  const text = isLong ? `${message.slice(0, kMostCharacters)}... (cut)` : message;
  throw new EdgeGradError(code, `[${where}] ${text}`);
}

/** Throws for a mode that an op does not have. */
export function unknownMode(name: string, mode: string): never {
  return fail("InvalidArgument", "OnnxModule", `the ${name} "${mode}" is not one of ONNX's.`);
}
