// The interface of the player's kernels: each one converts a struct of src/kernels, declared in generated/stream.ts, to dispatches.

import type { Block } from "../blocks";
import { type DType, itemSize } from "../dtype";
import type { Widened } from "../half_copies";
import type { Dispatch } from "../recorder";
import type { View } from "../stream";
import { type TileClass, tileClassOf } from "./matrix/tile_classes";

/** What kernels choose their shaders by. */
export interface AdapterTraits {
  /** Whether the device computes on the CPU, where invocations are cheap and barriers are expensive. */
  readonly isSoftware: boolean;
  /** How matrix products are divided on a device that does not. */
  readonly tiles: TileClass;
  /** Whether products read float16 as it is. */
  readonly hasHalves: boolean;
  /** The bytes of a tensor that a shader can access at once. */
  readonly mostBound: number;
}

/** Returns the traits of a device and its adapter. */
export function traitsOf({
  adapterInfo,
  features,
  limits,
}: Pick<GPUDevice, "adapterInfo" | "features" | "limits">): AdapterTraits {
  const isSoftware = adapterInfo?.isFallbackAdapter === true;
  return {
    isSoftware,
    // A device that computes on the CPU would convert every element wherever it is used.
    hasHalves: !isSoftware && features.has("shader-f16"),
    tiles: tileClassOf(adapterInfo),
    mostBound: limits.maxStorageBufferBindingSize,
  };
}

/** The commands that a kernel can issue. */
export interface Commands extends AdapterTraits {
  dispatch(dispatch: Dispatch): void;
  /** Copies bytes between different buffers; offsets and `bytes` must be multiples of 4. */
  copy(to: Block, toOffset: number, from: Block, fromOffset: number, bytes: number): void;
  /** Fills the whole buffer with zeros. */
  clear(view: View): void;
  /** Returns uninitialized memory for the duration of this call. */
  scratch(bytes: number, dtype: DType): View;
  /** Returns the float16 elements that a view is a converted copy of, if that is known, or else the view. */
  original(view: View): View;
  /**
   * Returns the status words, in which the shader reports an index that is out of range, or with a `rule` the position of what breaks
   * it (index/checked.ts).
   */
  status(rule?: string): View;
}

/**
 * The dtypes that memory may have: one list for each In and Out, in the order of the fields, or one list for all memory.
 * Absent memory matches every list; an empty list requires that the memory is absent.
 */
export type SupportedDTypes =
  | { readonly all: readonly DType[] }
  | { readonly views: readonly (readonly DType[])[] };

/** A kernel of the player. */
export interface Kernel<Struct> {
  readonly supported: SupportedDTypes;
  /** Issues the dispatches that compute a call of the kernel. */
  play(call: Struct, commands: Commands): void;
  /** Whether a call replaces all content of the blocks that it writes; false if absent. */
  overwrites?(call: Struct): boolean;
  /** The float16 tensor that a call copies in float32, if it does. */
  widened?(call: Struct): Widened | undefined;
}

/** Whether `count` different elements of a result are all memory of its tensor. */
export function isWhole({ block, offset, dtype }: View, count: number): boolean {
  return offset === 0 && Math.ceil((count * itemSize(dtype)) / 4) * 4 >= block.used;
}

/** A kernel, whatever its struct. */
export type AnyKernel = Kernel<never>;
