// The Tensor class is in a layer below the ops and autograd but has methods that are built from them. This file can import both
// and attaches the methods.

import { kAutogradMethods } from "./autograd/tensor_methods.js";
import { rsub } from "./composites/arithmetic.js";
import { norm } from "./composites/linalg/norms.js";
import { attachOps } from "./dispatch/methods.js";
import { attachHints } from "./ops/hints.js";
import { kShortcutMethods } from "./ops/shortcut_methods.js";
import { kSparseMethods } from "./ops/sparse_methods.js";
import { kCompositeMethods } from "./ops/tensor_methods.js";
import { view } from "./ops/view.js";
import { nonzero } from "./ops/where.js";
import { registerPublicMethods } from "./runtime/errors/own_frames.js";
import { Tensor } from "./tensor/tensor.js";

// Methods that the op table lacks, or that replace a more limited op of the engine.
const kComposites = {
  nonzero,
  norm,
  rsub,
  view,
};

let areAttached = false;

/** Attaches to Tensor the methods that the layers above it declare. Later calls have no effect. */
export function attachTensorMethods(): void {
  if (areAttached) return;
  areAttached = true;
  attachOps(Tensor.prototype);
  attach(kCompositeMethods);
  attach(kShortcutMethods);
  attach(kSparseMethods);
  attach(kAutogradMethods);
  for (const [name, f] of Object.entries(kComposites)) attach({ [name]: asMethod(f) });
  attachHints(Tensor.prototype);
  registerPublicMethods(Tensor.prototype);
}

// The tensor is the first argument.
function asMethod(f: (...args: never[]) => unknown): (this: Tensor, ...rest: never[]) => unknown {
  return function (...rest) {
    return f(...([this, ...rest] as never[]));
  };
}

// Not enumerable, like the methods and accessors of a class.
function attach(members: object): void {
  for (const name of Reflect.ownKeys(members)) {
    const descriptor = Object.getOwnPropertyDescriptor(members, name);
    Object.defineProperty(Tensor.prototype, name, { ...descriptor, enumerable: false });
  }
}
