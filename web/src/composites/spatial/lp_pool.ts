// Power-average pooling: the p-norm of every window.

import type { Ints } from "../../dispatch/types.js";
import { abs, avgPool1d, avgPool2d, mul, pow, relu, sign } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { perAxis } from "../geometry.js";
import { avgPool3d } from "./pool3d.js";

type AvgPool = (
  input: Tensor,
  kernelSize: Ints,
  options: { stride: Ints | null; ceilMode: boolean },
) => Tensor;

const kLine = "input:tensor normType:number kernelSize:ints stride:ints?=null ceilMode:bool=false";

/** The `normType`-norm of every window of a row, input [N, C, L] or [C, L]. */
export const lpPool1d = /* @__PURE__ */ lpPool("lpPool1d", 1, avgPool1d);

/** The `normType`-norm of every window of an image, input [N, C, H, W] or [C, H, W]. */
export const lpPool2d: typeof lpPool1d = /* @__PURE__ */ lpPool("lpPool2d", 2, avgPool2d);

/** The `normType`-norm of every window of a volume, input [N, C, D, H, W] or [C, D, H, W]. */
export const lpPool3d: typeof lpPool1d = /* @__PURE__ */ lpPool("lpPool3d", 3, avgPool3d);

function lpPool(where: string, axes: number, avgPool: AvgPool) {
  return composite(where, kLine, (input, normType, kernelSize, stride, ceilMode) => {
    const count = perAxis(where, "kernelSize", kernelSize, axes).reduce((a, b) => a * b, 1);
    const means = avgPool(pow(input, normType), kernelSize, { stride, ceilMode });
    return pow(mul(mul(sign(means), relu(abs(means))), count), 1 / normType);
  });
}
