// save(): a page that only runs models does not download what writes them.

import type { Bytes } from "edgegrad";
import type { SaveOptions } from "./export/options.js";
import type { Traceable } from "./export/trace.js";

/**
 * Returns a module or a function of tensors as an ONNX model. It is called with `inputs`, and the ops that it calls become the
 * nodes of the file; parameters and buffers keep their names. A module that load() has made is written without options as it was
 * read, with the parameters that it has now. Throws InvalidArgument, with a list, for calls that have no form in ONNX.
 */
export async function save(target: Traceable, options?: SaveOptions): Promise<Bytes> {
  const { write } = await import("./export/write.js");
  return write(target, options);
}
