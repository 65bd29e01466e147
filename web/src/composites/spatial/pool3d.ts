// Pooling of volumes: pools each slice, then along the depth, both by pooling images.

import type { Ints } from "../../dispatch/types.js";
import { avgPool2d, div, maxPool2d } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { inBatch, perAxis } from "../geometry.js";
import { chosenOnSlicesAndDepth, onSlicesAndDepth } from "./volume.js";

interface MaxPoolOptions {
  stride?: Ints | null;
  padding?: Ints;
  dilation?: Ints;
  ceilMode?: boolean;
}

interface MaxPool3d {
  (
    input: Tensor,
    kernelSize: Ints,
    options: MaxPoolOptions & { returnIndices: true },
  ): [Tensor, Tensor];
  (input: Tensor, kernelSize: Ints, options: MaxPoolOptions & { returnIndices?: false }): Tensor;
  (
    input: Tensor,
    kernelSize: Ints,
    stride?: Ints | null,
    padding?: Ints,
    dilation?: Ints,
    ceilMode?: boolean,
    returnIndices?: false,
  ): Tensor;
  (
    input: Tensor,
    kernelSize: Ints,
    stride: Ints | null,
    padding: Ints,
    dilation: Ints,
    ceilMode: boolean,
    returnIndices: true,
  ): [Tensor, Tensor];
}

/**
 * The maximum of every window of a volume, input [N, C, D, H, W] or [C, D, H, W]. With `returnIndices`, also its index in the
 * flattened volume.
 */
export const maxPool3d = /* @__PURE__ */ composite<MaxPool3d>(
  "maxPool3d",
  "input:tensor kernelSize:ints stride:ints?=null padding:ints=0 dilation:ints=1 ceilMode:bool=false returnIndices:bool=false",
  (
    input: Tensor,
    kernelSize: Ints,
    stride: Ints | null,
    padding: Ints,
    dilation: Ints,
    ceilMode: boolean,
    returnIndices: boolean,
  ) => {
    const where = "maxPool3d";
    const [depth = 1, ...kernel] = perAxis(where, "kernelSize", kernelSize, 3);
    const [step = 1, ...steps] = perAxis(where, "stride", stepsOf(stride, kernelSize), 3);
    const [edge = 0, ...edges] = perAxis(where, "padding", padding, 3);
    const [spread = 1, ...spreads] = perAxis(where, "dilation", dilation, 3);
    const onSlices = [kernel, steps, edges, spreads, ceilMode] as const;
    const onDepth = [[depth, 1], [step, 1], [edge, 0], [spread, 1], ceilMode] as const;
    return inBatch<Tensor | Tensor[]>(where, input, 5, (batch) =>
      returnIndices
        ? chosenOnSlicesAndDepth(
            batch,
            (x) => maxPool2d(x, ...onSlices, true),
            (x) => maxPool2d(x, ...onDepth, true),
          )
        : onSlicesAndDepth(
            batch,
            (x) => maxPool2d(x, ...onSlices),
            (x) => maxPool2d(x, ...onDepth),
          ),
    );
  },
);

/** The mean of every window of a volume, input [N, C, D, H, W] or [C, D, H, W]. */
export const avgPool3d = /* @__PURE__ */ composite(
  "avgPool3d",
  "input:tensor kernelSize:ints stride:ints?=null padding:ints=0 ceilMode:bool=false countIncludePad:bool=true divisorOverride:int?=null",
  (input, kernelSize, stride, padding, ceilMode, countIncludePad, divisorOverride) => {
    const where = "avgPool3d";
    const [depth = 1, ...kernel] = perAxis(where, "kernelSize", kernelSize, 3);
    const [step = 1, ...steps] = perAxis(where, "stride", stepsOf(stride, kernelSize), 3);
    const [edge = 0, ...edges] = perAxis(where, "padding", padding, 3);
    if (divisorOverride === 0)
      fail("InvalidArgument", where, "divisorOverride: expected a number other than 0.");
    // With a given divisor, the windows are summed and divided afterwards.
    const divisor = divisorOverride === null ? null : 1;
    return inBatch(where, input, 5, (batch) => {
      const pooled = onSlicesAndDepth(
        batch,
        (x) => avgPool2d(x, kernel, steps, edges, ceilMode, countIncludePad, divisor),
        (x) => avgPool2d(x, [depth, 1], [step, 1], [edge, 0], ceilMode, countIncludePad, divisor),
      );
      return divisorOverride === null ? pooled : div(pooled, divisorOverride);
    });
  },
);

// As in PyTorch, a missing or empty stride is the size of the kernel.
function stepsOf(stride: Ints | null, kernelSize: Ints): Ints {
  return stride === null || (typeof stride !== "number" && stride.length === 0)
    ? kernelSize
    : stride;
}
