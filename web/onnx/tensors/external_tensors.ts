// The tensors of a model that are in external files.

import type { Message } from "../proto/schema.js";
import { tensorsIn } from "./model_tensors.js";

const kExternal = 1;

/** Returns the tensors of a model that are in external files, including those in attributes. */
export function externalTensors(model: Message<"Model">): Message<"Tensor">[] {
  return tensorsIn(model).filter((tensor) => Number(tensor.dataLocation ?? 0) === kExternal);
}
