// Defines the functions of generated/ops.ts from the names of ops.

import { kInPlace } from "../generated/border.js";
import { native } from "../runtime/bridge/bridge.js";
import { registerPublicFunction } from "../runtime/errors/own_frames.js";
import { camelCase } from "../runtime/host/spelling.js";
import { type Device, deviceCode } from "../tensor/dtype.js";
import {
  kFactoryOptions,
  readFactoryOptions,
  withFactoryOptions,
} from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";
import { callInPlace, callOp, isOptions } from "./call.js";
import { opOf } from "./op_lines.js";
import type { Op } from "./signature.js";

/** Any op function; generated/ops.ts declares each one's precise type. */
export type AnyFunction = (...args: never[]) => unknown;

/** Defines the function of an op. */
export function define<F extends AnyFunction>(name: string): F {
  let op: Op | undefined;
  const run = (...args: readonly unknown[]) => {
    op ??= opOf(name);
    return callOp(op, args);
  };
  return named(camelCase(name), run) as F;
}

/** Defines the function of an op that writes into its first argument: `add_`, `copy_`. */
export function defineInPlace<F extends AnyFunction>(name: string): F {
  const flags = inPlaceFlags(name);
  let op: Op | undefined;
  const run = (...args: readonly unknown[]) => {
    op ??= inPlaceForm(name);
    return callInPlace(op, args, flags);
  };
  return named(camelCase(name), run) as F;
}

/** Returns the flags with which C++ runs an op that writes into its first argument. */
export function inPlaceFlags(name: string): number {
  // Ops that only exist in place need no flag.
  return name.endsWith("_") ? 0 : kInPlace;
}

/** Returns the in-place form of an op. */
export function inPlaceForm(name: string): Op {
  const op = opOf(name);
  return { ...op, name: name.endsWith("_") ? op.name : `${op.name}_` };
}

/** Defines the function of an op that makes tensors and takes {dtype, device, requiresGrad}. */
export function defineFactory<F extends AnyFunction>(name: string): F {
  let op: Op | undefined;
  const run = (...args: readonly unknown[]) => {
    op ??= { ...opOf(name), moreOptions: kFactoryOptionNames };
    const known = op;
    const make = (rest: readonly unknown[]) => callOp(known, rest) as Tensor;
    return makeWithFactoryOptions(known.name, args, (rest, device) =>
      device === undefined ? make(rest) : onDevice(device, () => make(rest)),
    );
  };
  return named(camelCase(name), run) as F;
}

/** The names of the options in kFactoryOptions. */
export const kFactoryOptionNames: readonly string[] = /* @__PURE__ */ Object.keys(kFactoryOptions);

/**
 * Makes a tensor and applies the factory options of the call to it; `make` receives the other arguments, and the device, on
 * which it may make the tensor at once.
 */
export function makeWithFactoryOptions(
  name: string,
  args: readonly unknown[],
  make: (rest: readonly unknown[], device: Device | undefined) => Tensor,
): Tensor {
  const last = args[args.length - 1];
  if (!isOptions(last)) return make(args, undefined);
  const { device, requiresGrad, ...options } = last;
  const factoryOptions = readFactoryOptions(name, device, requiresGrad);
  const rest = [...args.slice(0, -1), options];
  return withFactoryOptions(make(rest, factoryOptions.device), factoryOptions);
}

// Runs a factory that computes its tensor on the device, without a copy from the CPU.
function onDevice(device: Device, make: () => Tensor): Tensor {
  native.useFactoryDevice(deviceCode(device, "device"));
  try {
    return make();
  } finally {
    native.useFactoryDevice(-1);
  }
}

/** Sets the name of a public function, as it appears in stacks, and registers the function. */
export function named(name: string, run: AnyFunction): AnyFunction {
  Object.defineProperty(run, "name", { value: name, configurable: true });
  registerPublicFunction(run);
  return run;
}
