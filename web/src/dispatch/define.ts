// What generated/ops.ts is made of: functions from an op's number and signature.

import { kInPlace } from "../runtime/native.js";
import { addDoor } from "../runtime/own_frames.js";
import { kPlaceOptions, placed, readPlace } from "../tensor/place.js";
import type { Tensor } from "../tensor/tensor.js";
import { callInPlace, callOp, isOptions } from "./call.js";
import { type Op, parseSignature, type Returns } from "./signature.js";

/** Any op function; generated/ops.ts gives each its precise type. */
export type AnyFunction = (...args: never[]) => unknown;

/** Defines the function of an op. */
export function define<F extends AnyFunction>(
  name: string,
  id: number,
  signature: string,
  returns: Returns = "tensor",
): F {
  let op: Op | undefined;
  const run = (...args: readonly unknown[]) => {
    op ??= parseSignature(name, id, signature, returns);
    return callOp(op, args);
  };
  return named(name, run) as F;
}

/** Defines the function of an op that writes into its first argument: `add_`, `copy_`. */
export function defineInPlace<F extends AnyFunction>(
  name: string,
  id: number,
  signature: string,
  flags = kInPlace,
): F {
  let op: Op | undefined;
  const run = (...args: readonly unknown[]) => {
    op ??= parseSignature(inPlaceName(name), id, signature, "tensor");
    return callInPlace(op, args, flags);
  };
  return named(name, run) as F;
}

/** Defines the function of an op that makes tensors and takes {dtype, device, requiresGrad}. */
export function defineFactory<F extends AnyFunction>(
  name: string,
  id: number,
  signature: string,
): F {
  let op: Op | undefined;
  const run = (...args: readonly unknown[]) => {
    op ??= parseSignature(name, id, signature, "tensor", kPlaceNames);
    const known = op;
    return makePlaced(name, args, (rest) => callOp(known, rest) as Tensor);
  };
  return named(name, run) as F;
}

/** The options of where a new tensor is to be, by name. */
export const kPlaceNames: readonly string[] = /* @__PURE__ */ Object.keys(kPlaceOptions);

/** Makes a tensor by a call whose options may say where it is to be; `make` gets the other arguments. */
export function makePlaced(
  name: string,
  args: readonly unknown[],
  make: (rest: readonly unknown[]) => Tensor,
): Tensor {
  const last = args[args.length - 1];
  if (!isOptions(last)) return make(args);
  const { device, requiresGrad, ...options } = last;
  const place = readPlace(name, device, requiresGrad);
  return placed(make([...args.slice(0, -1), options]), place);
}

function inPlaceName(name: string): string {
  return name.endsWith("_") ? name : `${name}_`;
}

/** Gives a function that users call its own name in stacks. */
export function named(name: string, run: AnyFunction): AnyFunction {
  Object.defineProperty(run, "name", { value: name, configurable: true });
  addDoor(name, run);
  return run;
}

/** Makes functions methods of a class: the object is their first argument. */
export function attachMethods(
  prototype: object,
  functions: Readonly<Record<string, AnyFunction>>,
): void {
  for (const [name, run] of Object.entries(functions)) {
    const method = function (this: unknown, ...args: unknown[]): unknown {
      return (run as (...args: readonly unknown[]) => unknown)(this, ...args);
    };
    Object.defineProperty(method, "name", { value: name, configurable: true });
    Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true });
  }
}
