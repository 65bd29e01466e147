// A tensor that a module learns.

import { checked, native } from "../runtime/bridge.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";

/** A tensor that counts as a parameter of the module it is a property of. */
export class Parameter extends Tensor {
  /** Makes a leaf that shares the data of `data`. */
  constructor(data: Tensor, requiresGrad = true) {
    super(checked(native.detach(handleOf(data))));
    if (requiresGrad) this.requiresGrad = true;
  }

  override toString(): string {
    return `Parameter containing:\n${super.toString()}`;
  }
}

/** Makes a parameter of a fresh tensor, whose own handle is not needed any more. */
export function parameterFrom(data: Tensor): Parameter {
  const parameter = new Parameter(data);
  data.dispose();
  return parameter;
}
