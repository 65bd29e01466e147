// What a kernel of the player is: how a struct of src/kernels, which generated/border.ts declares, becomes dispatches.

import type { Block } from "../blocks";
import type { DType } from "../dtype";
import type { Dispatch } from "../recorder";
import type { View } from "../stream";

/** What a kernel can have done. */
export interface Commands {
  /** The number of the op's name, for the status words. */
  readonly opNumber: number;
  /** The device computes on the CPU: invocations are cheap there, and waiting for one another is dear. */
  readonly isSoftware: boolean;
  dispatch(dispatch: Dispatch): void;
  /** Between different buffers, in bytes; all are multiples of 4. */
  copy(to: Block, toOffset: number, from: Block, fromOffset: number, bytes: number): void;
  /** Fills the whole buffer with zeros. */
  clear(view: View): void;
  /** Memory for this call of the kernel, with anything in it. */
  scratch(bytes: number, dtype: DType): View;
  /** The status words, which say that an index was out of range. */
  status(): View;
}

/**
 * The dtypes that memory may have: one list for each In and Out, in the order of the fields, or one for all memory.
 * Memory that is not there fits every list, and alone an empty one.
 */
export type SupportedDTypes =
  | { readonly all: readonly DType[] }
  | { readonly views: readonly (readonly DType[])[] };

export interface Kernel<Struct> {
  readonly supported: SupportedDTypes;
  /** Dispatches what computes a call of the kernel. */
  play(call: Struct, commands: Commands): void;
}
