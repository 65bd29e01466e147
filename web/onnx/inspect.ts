// inspect(), whose work is in a file that is loaded when it is called.

import type { OnnxDescription } from "./description.js";
import type { Source } from "./source.js";

/**
 * Returns what is in an ONNX model without making a module of it: its nodes with their attributes, the tensors that it stores, and the
 * shapes that it declares. Models that load() refuses are described too, and no external data is read. Throws InvalidArgument for
 * damaged bytes.
 */
export async function inspect(source: Source): Promise<OnnxDescription> {
  return (await import("./files/index.js")).describe(source);
}
