// The Tensor class stands below the ops and autograd, and has methods that are made of them: they are put together
// here, where everything is known.

import { kAutogradMethods } from "./autograd/tensor_methods.js";
import { rsub } from "./composites/arithmetic.js";
import { norm } from "./composites/linalg/norms.js";
import { attachOps } from "./dispatch/methods.js";
import { kFamiliarMethods } from "./ops/familiar_methods.js";
import { attachHints } from "./ops/hints.js";
import { kCompositeMethods } from "./ops/tensor_methods.js";
import { addDoors } from "./runtime/own_frames.js";
import { Tensor } from "./tensor/tensor.js";

// What the op table has not, or what stands in the place of the engine's, which can less.
const kComposites = {
  norm,
  rsub,
};

let areAttached = false;

/** Gives Tensor the methods that the layers above it declare for it, once. */
export function attachTensorMethods(): void {
  if (areAttached) return;
  areAttached = true;
  attachOps(Tensor.prototype);
  attach(kCompositeMethods);
  attach(kFamiliarMethods);
  attach(kAutogradMethods);
  for (const [name, f] of Object.entries(kComposites)) attach({ [name]: asMethod(f) });
  attachHints(Tensor.prototype);
  addDoors(Tensor.prototype);
}

// The tensor is the first argument.
function asMethod(f: (...args: never[]) => unknown): (this: Tensor, ...rest: never[]) => unknown {
  return function (...rest) {
    return f(...([this, ...rest] as never[]));
  };
}

// As a class has its methods and accessors: no loop over the properties of a tensor meets them.
function attach(members: object): void {
  for (const name of Reflect.ownKeys(members)) {
    const descriptor = Object.getOwnPropertyDescriptor(members, name);
    Object.defineProperty(Tensor.prototype, name, { ...descriptor, enumerable: false });
  }
}
