// Adaptive pooling, whose windows follow from the size of the result, for rows and volumes. For images the engine has ops.

import type { OutputSize } from "../../dispatch/types.js";
import { adaptiveAvgPool2d, adaptiveMaxPool2d, squeeze, unsqueeze } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { inBatch } from "../geometry.js";
import { chosenOnSlicesAndDepth, onSlicesAndDepth } from "./volume.js";

interface AdaptiveMaxPool {
  (input: Tensor, outputSize: OutputSize, returnIndices: true): [Tensor, Tensor];
  (input: Tensor, outputSize: OutputSize, options: { returnIndices: true }): [Tensor, Tensor];
  (input: Tensor, outputSize: OutputSize, returnIndices?: false): Tensor;
  (input: Tensor, outputSize: OutputSize, options: { returnIndices?: false }): Tensor;
}

const kAvgLine = "input:tensor outputSize:sizes";
const kMaxLine = "input:tensor outputSize:sizes returnIndices:bool=false";

/** The mean of each of the `outputSize` windows that divide a row, input [N, C, L] or [C, L]. */
export const adaptiveAvgPool1d = /* @__PURE__ */ composite(
  "adaptiveAvgPool1d",
  kAvgLine,
  (input, outputSize) => {
    const [length] = sizesOf("adaptiveAvgPool1d", outputSize, 1);
    return inBatch("adaptiveAvgPool1d", input, 3, (batch) =>
      squeeze(adaptiveAvgPool2d(unsqueeze(batch, 2), [1, length ?? null]), 2),
    );
  },
);

/** The mean of each of the `outputSize` windows that divide a volume, input [N, C, D, H, W] or [C, D, H, W]; null keeps a size. */
export const adaptiveAvgPool3d: typeof adaptiveAvgPool1d = /* @__PURE__ */ composite(
  "adaptiveAvgPool3d",
  kAvgLine,
  (input, outputSize) => {
    const [depth, ...sizes] = sizesOf("adaptiveAvgPool3d", outputSize, 3);
    return inBatch("adaptiveAvgPool3d", input, 5, (batch) =>
      onSlicesAndDepth(
        batch,
        (x) => adaptiveAvgPool2d(x, sizes),
        (x) => adaptiveAvgPool2d(x, [depth ?? null, null]),
      ),
    );
  },
);

/** The maximum of each of the `outputSize` windows that divide a row; with `returnIndices`, also its index. */
export const adaptiveMaxPool1d = /* @__PURE__ */ composite<AdaptiveMaxPool>(
  "adaptiveMaxPool1d",
  kMaxLine,
  (input: Tensor, outputSize: OutputSize, returnIndices: boolean) => {
    const [length] = sizesOf("adaptiveMaxPool1d", outputSize, 1);
    return inBatch<Tensor | Tensor[]>("adaptiveMaxPool1d", input, 3, (batch) => {
      const image = unsqueeze(batch, 2);
      const sizes = [1, length ?? null];
      if (!returnIndices) return squeeze(adaptiveMaxPool2d(image, sizes), 2);
      return adaptiveMaxPool2d(image, sizes, true).map((result) => squeeze(result, 2));
    });
  },
);

/** The maximum of each of the `outputSize` windows that divide a volume; with `returnIndices`, also its index in the flattened volume. */
export const adaptiveMaxPool3d = /* @__PURE__ */ composite<AdaptiveMaxPool>(
  "adaptiveMaxPool3d",
  kMaxLine,
  (input: Tensor, outputSize: OutputSize, returnIndices: boolean) => {
    const [depth, ...sizes] = sizesOf("adaptiveMaxPool3d", outputSize, 3);
    const columns = [depth ?? null, null];
    return inBatch<Tensor | Tensor[]>("adaptiveMaxPool3d", input, 5, (batch) =>
      returnIndices
        ? chosenOnSlicesAndDepth(
            batch,
            (x) => adaptiveMaxPool2d(x, sizes, true),
            (x) => adaptiveMaxPool2d(x, columns, true),
          )
        : onSlicesAndDepth(
            batch,
            (x) => adaptiveMaxPool2d(x, sizes),
            (x) => adaptiveMaxPool2d(x, columns),
          ),
    );
  },
);

function sizesOf(where: string, outputSize: OutputSize, axes: number): (number | null)[] {
  if (typeof outputSize === "number") return new Array(axes).fill(outputSize);
  if (outputSize.length === axes) return [...outputSize];
  if (outputSize.length === 1) return new Array(axes).fill(outputSize[0]);
  const reason = `outputSize: expected ${axes} sizes, got ${outputSize.length}.`;
  return fail("InvalidArgument", where, reason);
}
