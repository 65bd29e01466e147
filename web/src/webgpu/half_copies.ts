// float16 tensors that the engine has converted for a kernel. It computes them in float32 (src/dispatch/precision.h), so that kernels get a
// converted copy; where shaders can read float16, they read the tensor itself, which has half the bytes and the same numbers.

import type { Block } from "./blocks";
import type { Recording } from "./recording";
import type { View } from "./stream";

/** What a block's content is a converted copy of, element by element in the same places. */
export interface HalfCopy {
  readonly from: View;
  /** The version of the original when it was copied. */
  readonly version: number;
  /** The recording that the copying belongs to: what is not in a recording is not repeated by its replays. */
  readonly recording: Recording | undefined;
}

/** A copy that a call of a kernel makes of a whole float16 tensor. */
export interface Widened {
  readonly to: Block;
  readonly from: View;
}

/** From here on, a block has other content. */
export function changeContent(block: Block): void {
  block.version++;
  block.halfCopy = undefined;
}

/** Returns what a copy that is made now is a copy of. */
export function halfCopyOf({ from }: Widened, recording: Recording | undefined): HalfCopy {
  return { from, version: from.block.version, recording };
}

/** Returns the float16 elements that a view is a copy of, if they are still there, or else the view. */
export function originalOf(
  view: View,
  recording: Recording | undefined,
  halfCopy = view.block.halfCopy,
): View {
  if (halfCopy === undefined || view.dtype !== "float32") return view;
  const { block, offset, dtype } = halfCopy.from;
  const isThere =
    !block.isMissing && block.version === halfCopy.version && recording === halfCopy.recording;
  return isThere ? { block, offset: offset + view.offset / 2, dtype } : view;
}
