// The errors of this add-on, which are those of the package.

import { EdgeGradError, type ErrorCode } from "edgegrad";

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  throw new EdgeGradError(code, `[${where}] ${message}`);
}

/** Throws for a mode that an op does not have. */
export function unknownMode(name: string, mode: string): never {
  return fail("InvalidArgument", "OnnxModule", `the ${name} "${mode}" is not one of ONNX's.`);
}
