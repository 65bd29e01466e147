// Functions that keep saved tensors in the place of nodes.

import { functionOf, text } from "../arguments/rule.js";
import { checkedFor, native } from "../runtime/bridge.js";
import { type FrameCallback, heldValue, holdFunction, holdValue } from "../runtime/callbacks.js";
import { describe, fail } from "../runtime/errors.js";
import { handleOf } from "../tensor/info.js";
import { keep } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { checkFunction } from "./hooks.js";
import { runInMode } from "./mode.js";

/** Takes a tensor that is being saved, and returns whatever unpack needs to make it again. */
export type Pack<Packed = unknown> = (tensor: Tensor) => Packed;

/** Makes the tensor that pack took; called each time it is needed. */
export type Unpack<Packed = unknown> = (packed: Packed) => Tensor;

/**
 * Runs `fn` and returns its value; of every tensor saved for backward meanwhile, what `pack` returns is
 * kept instead, and `unpack` is given that when backward needs the tensor.
 */
export function savedTensorsHooks<T, Packed>(
  pack: Pack<Packed>,
  unpack: Unpack<Packed>,
  fn: () => T,
): T {
  const [packWords, unpackWords] = frameHooks(pack as Pack, unpack as Unpack);
  return withSavedTensorHooks("savedTensorsHooks", packWords, unpackWords, fn);
}

/** Runs `fn`; tensors saved for backward meanwhile are kept in the CPU's memory. */
export function saveOnCpu<T>(fn: () => T): T {
  functionOf<() => T>().check("saveOnCpu", "fn", fn);
  const pack = (tensor: Tensor) => {
    if (tensor.device === "cpu") return tensor;
    const packed = [tensor.device, tensor.to("cpu")] as const;
    // The device's memory is wanted back now, not when the garbage collector comes by.
    tensor.dispose();
    return packed;
  };
  return savedTensorsHooks(
    pack,
    (packed) => (packed instanceof Tensor ? packed : packed[1].to(packed[0])),
    fn,
  );
}

/** Runs `fn`, in which savedTensorsHooks() and what is made of it fail with `message`. */
export function disableSavedTensorsHooks<T>(message: string, fn: () => T): T {
  text.check("disableSavedTensorsHooks", "message", message);
  checkedFor("disableSavedTensorsHooks", native.disableSavedTensorHooks(message));
  return runInMode("disableSavedTensorsHooks", fn, native.enableSavedTensorHooks);
}

/** Runs `fn` with hooks on saved tensors as C++ calls them. */
export function withSavedTensorHooks<T>(
  name: string,
  pack: FrameCallback,
  unpack: FrameCallback,
  fn: () => T,
): T {
  checkedFor(
    "savedTensorsHooks",
    native.pushSavedTensorHooks(holdFunction(pack), holdFunction(unpack)),
  );
  return runInMode(name, fn, native.popSavedTensorHooks);
}

/** Returns a pair of hooks as C++ calls them; see bindings/saved_tensors.cpp. */
export function frameHooks(pack: Pack, unpack: Unpack): [FrameCallback, FrameCallback] {
  checkFunction("savedTensorsHooks", pack);
  checkFunction("savedTensorsHooks", unpack);
  return [
    ([handle = 0]) => {
      const packed = pack(new Tensor(handle));
      // A tensor goes to C++, which frees it with the graph.
      return packed instanceof Tensor ? [1, handleOf(packed)] : [0, holdValue(keep(packed))];
    },
    ([isTensor, word = 0]) => {
      const result: unknown = unpack(isTensor === 1 ? new Tensor(word) : heldValue(word));
      if (result instanceof Tensor) return [handleOf(result), 0];
      return fail(
        "InvalidArgument",
        "savedTensorsHooks",
        `Output of saved tensor unpack_hook expected to be a Tensor but got result of type ${describe(result)}`,
      );
    },
  ];
}
