// The properties of a tensor, read from C++ through the call frame.

import {
  kDtypeWord,
  kFlagsWord,
  kNdimWord,
  kNumelWord,
  kTensorWords,
} from "../generated/border.js";
import { callFrame, checked, native } from "../runtime/bridge/bridge.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { type DType, dtypeOf } from "./dtype.js";
import { isWrapper, refuseStale } from "./lifetime.js";
import type { Tensor } from "./tensor.js";

/** The handle of a tensor that the engine does not know: one inside eg.func.vmap(), or one that has no shape yet. */
export const kNoHandle = -1;

/** A tensor that the engine does not know, whose class says why. */
export interface WithoutHandle extends Tensor {
  refuseUse(): never;
}

/** Returns the handle of a tensor, or throws Disposed. */
export function handleOf(tensor: Tensor): number {
  // At run time the argument may be any JavaScript value.
  const handle = (tensor as Tensor | null | undefined)?.handle ?? Number.NaN;
  if (!(handle > 0)) throwUnusable(tensor, handle);
  return handle;
}

function throwUnusable(tensor: unknown, handle: number): never {
  if (isWrapper(tensor)) refuseStale("tensor", tensor);
  // An object of the program may have this number, too.
  if (handle === kNoHandle) (tensor as Partial<WithoutHandle>).refuseUse?.();
  if (handle !== 0) {
    fail("InvalidArgument", "tensor", `expected a tensor, got ${describe(tensor)}.`);
  }
  fail(
    "Disposed",
    "tensor",
    "this tensor has been disposed. It was freed by dispose(), `using` or the end of an eg.scope(); " +
      "return it from the scope or mark it with eg.keep() to keep using it.",
  );
}

/** Returns one word of a tensor's info. */
export function infoWord(tensor: Tensor, word: number): number {
  checked(native.info(handleOf(tensor)));
  return callFrame()[word] ?? 0;
}

/** Returns true when a flag of a tensor's info is set. */
export function infoFlag(tensor: Tensor, flag: number): boolean {
  return (infoWord(tensor, kFlagsWord) & flag) !== 0;
}

/** Returns the sizes of a tensor's dimensions. */
export function shapeOf(tensor: Tensor): number[] {
  checked(native.info(handleOf(tensor)));
  const words = callFrame();
  return takeWords(words, kTensorWords, words[kNdimWord] ?? 0);
}

// For so few words a loop is ten times as fast as subarray() and Array.from().
function takeWords(words: Float64Array, start: number, count: number): number[] {
  const taken: number[] = [];
  for (let i = start; i < start + count; i++) taken.push(words[i] ?? 0);
  return taken;
}

/** The dtype, flags, shape and strides of a tensor. */
export interface Geometry {
  readonly dtype: DType;
  readonly numel: number;
  readonly flags: number;
  readonly shape: number[];
  readonly strides: number[];
}

/** Returns the geometry of a tensor. */
export function geometryOf(tensor: Tensor): Geometry {
  checked(native.info(handleOf(tensor)));
  const words = callFrame();
  const ndim = words[kNdimWord] ?? 0;
  return {
    dtype: dtypeOf(words[kDtypeWord]),
    numel: words[kNumelWord] ?? 0,
    flags: words[kFlagsWord] ?? 0,
    shape: takeWords(words, kTensorWords, ndim),
    strides: takeWords(words, kTensorWords + ndim, ndim),
  };
}
