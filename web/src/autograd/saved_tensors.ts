// Hooks that control how tensors are saved for backward.

import { readOptions } from "../arguments/read.js";
import { boolean, type Options, text } from "../arguments/rule.js";
import { checkedFor, native } from "../runtime/bridge/bridge.js";
import {
  type FrameCallback,
  heldValue,
  holdFunction,
  holdValue,
} from "../runtime/bridge/callbacks.js";
import { describe, fail } from "../runtime/errors/errors.js";
import type { Device } from "../tensor/dtype.js";
import { handleOf } from "../tensor/info.js";
import { keep } from "../tensor/scope.js";
import { Tensor, wrapperOf } from "../tensor/tensor.js";
import { checkFunction } from "./hooks.js";
import { inMode, type ModeArguments, type ModeGuard, runInMode, splitFunction } from "./mode.js";

/** Receives a tensor that is being saved and returns whatever `unpack` needs to restore it. */
export type Pack<Packed = unknown> = (tensor: Tensor) => Packed;

/** Restores a tensor from what `pack` returned; called each time the tensor is needed. */
export type Unpack<Packed = unknown> = (packed: Packed) => Tensor;

/**
 * Runs `fn` and returns its value. For every tensor that `fn` saves for backward, the result of `pack` is
 * stored instead; when backward needs the tensor, `unpack` restores it from that. Without `fn`, returns a guard for `using`.
 */
export function savedTensorsHooks<Packed>(pack: Pack<Packed>, unpack: Unpack<Packed>): ModeGuard;
export function savedTensorsHooks<T, Packed>(
  pack: Pack<Packed>,
  unpack: Unpack<Packed>,
  fn: () => T,
): T;
export function savedTensorsHooks<T, Packed>(
  pack: Pack<Packed>,
  unpack: Unpack<Packed>,
  fn?: () => T,
): T | ModeGuard {
  pushHooks(...frameHooks(pack as Pack, unpack as Unpack));
  return inMode("savedTensorsHooks", fn, native.popSavedTensorHooks);
}

const kSaveOnCpuOptions = {
  /** PyTorch's option; only false, the default, is possible: memory of WebAssembly cannot be pinned. */
  pinMemory: boolean.or(false),
};

/** Options of `saveOnCpu`. */
export type SaveOnCpuOptions = Options<typeof kSaveOnCpuOptions>;

/**
 * Runs `fn` and returns its value. Tensors that `fn` saves for backward are stored in CPU memory. Without `fn`, returns a guard
 * for `using`.
 */
export function saveOnCpu(options?: SaveOnCpuOptions): ModeGuard;
export function saveOnCpu<T>(fn: () => T, options?: SaveOnCpuOptions): T;
export function saveOnCpu<T>(...given: ModeArguments<T, SaveOnCpuOptions>): T | ModeGuard {
  const [fn, rest] = splitFunction("saveOnCpu", given);
  if (readOptions("saveOnCpu", kSaveOnCpuOptions, rest).pinMemory) {
    fail(
      "InvalidArgument",
      "saveOnCpu",
      "pinMemory: memory of WebAssembly cannot be pinned, so only false is possible.",
    );
  }
  const pack: FrameCallback = ([handle = 0]) => {
    // A wrapper of its own frees the device's memory immediately instead of waiting for the garbage collector.
    const tensor = new Tensor(handle);
    const { device } = tensor;
    if (device === "cpu") return [1, handle];
    const packed = keep([device, tensor.to("cpu")]);
    tensor.dispose();
    return [0, holdValue(packed)];
  };
  const unpack = (packed: Tensor | readonly [Device, Tensor]) =>
    packed instanceof Tensor ? packed : packed[1].to(packed[0]);
  pushHooks(pack, unpackWords(unpack as Unpack));
  return inMode("saveOnCpu", fn, native.popSavedTensorHooks);
}

/**
 * Runs `fn` and returns its value. Inside, savedTensorsHooks() and functions that use it throw an error with `message`. Without
 * `fn`, returns a guard for `using`.
 */
export function disableSavedTensorsHooks(message: string): ModeGuard;
export function disableSavedTensorsHooks<T>(message: string, fn: () => T): T;
export function disableSavedTensorsHooks<T>(message: string, fn?: () => T): T | ModeGuard {
  text.check("disableSavedTensorsHooks", "message", message);
  checkedFor("disableSavedTensorsHooks", native.disableSavedTensorHooks(message));
  return inMode("disableSavedTensorsHooks", fn, native.enableSavedTensorHooks);
}

/** Runs `fn` with hooks on saved tensors, in the form in which C++ calls them. */
export function withSavedTensorHooks<T>(
  name: string,
  pack: FrameCallback,
  unpack: FrameCallback,
  fn: () => T,
): T {
  pushHooks(pack, unpack);
  return runInMode(name, fn, native.popSavedTensorHooks);
}

function pushHooks(pack: FrameCallback, unpack: FrameCallback): void {
  checkedFor(
    "savedTensorsHooks",
    native.pushSavedTensorHooks(holdFunction(pack), holdFunction(unpack)),
  );
}

/** Returns a pair of hooks in the form in which C++ calls them; see bindings/saved_tensors.cpp. */
export function frameHooks(pack: Pack, unpack: Unpack): [FrameCallback, FrameCallback] {
  checkFunction("savedTensorsHooks", pack);
  checkFunction("savedTensorsHooks", unpack);
  return [packWords(pack), unpackWords(unpack)];
}

function packWords(pack: Pack): FrameCallback {
  return ([handle = 0]) => {
    const packed = pack(wrapperOf(handle));
    // A tensor is passed to C++, which frees it together with the graph.
    return packed instanceof Tensor ? [1, handleOf(packed)] : [0, holdValue(keep(packed))];
  };
}

function unpackWords(unpack: Unpack): FrameCallback {
  return ([isTensor, word = 0]) => {
    const result: unknown = unpack(isTensor === 1 ? wrapperOf(word) : heldValue(word));
    if (result instanceof Tensor) return [handleOf(result), 0];
    return fail(
      "InvalidArgument",
      "savedTensorsHooks",
      `unpack must return a tensor, got ${describe(result)}.`,
    );
  };
}
