// Errors that several ops throw.

import { fail } from "../errors/errors.js";

/** Throws for a mode that an op does not have. */
export function unknownMode(name: string, mode: string): never {
  return fail("InvalidArgument", "OnnxModule", `the ${name} "${mode}" is not one of ONNX's.`);
}
