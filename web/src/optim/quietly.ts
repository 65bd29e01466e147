import { noGrad } from "../autograd/grad_mode.js";
import { scope } from "../tensor/scope.js";

/** Runs `work` without recording, and frees the tensors that it does not return. */
export function quietly<T>(work: () => T): T {
  return scope(() => noGrad(work));
}
