// save(); its implementation is loaded when it is called, so that a page that only runs models does not download it.

import type { Bytes } from "edgegrad";
import type { SaveOptions } from "./export/options.js";
import type { Traceable } from "./export/trace.js";

/**
 * Exports a module or a function of tensors as an ONNX model. It is called with `inputs`, and the ops that it calls become the nodes of
 * the file; parameters and buffers keep their names. Without options, a module from load() is written as it was read, with its present
 * parameters. Throws InvalidArgument, with a list, for calls that ONNX cannot express.
 */
export async function save(target: Traceable, options?: SaveOptions): Promise<Bytes> {
  const { write } = await import("./export/write.js");
  return write(target, options);
}
