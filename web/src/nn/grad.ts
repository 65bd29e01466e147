// nn.grad: the gradients of convolutions as functions.

import { grad } from "../autograd/grad.js";
import { opsAreRecorded, recording } from "../autograd/recording.js";
import { composite } from "../composites/composite.js";
import { perAxis } from "../composites/geometry.js";
import { conv3d, convTranspose3d } from "../composites/index.js";
import type { Ints } from "../dispatch/types.js";
import { conv1d, conv2d, convTranspose1d, convTranspose2d, zeros } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";

interface GradientOptions {
  stride?: Ints;
  padding?: Ints;
  dilation?: Ints;
  groups?: number;
}

const kRest = "stride:ints=1 padding:ints=0 dilation:ints=1 groups:int=1";

type Convolve = (input: Tensor, weight: Tensor, options: GradientOptions) => Tensor;
type Transposed = (
  input: Tensor,
  weight: Tensor,
  options: GradientOptions & { outputPadding: Ints },
) => Tensor;

function inputGradient(name: string, spatial: number, transposed: Transposed) {
  return composite(
    name,
    `inputSize:ints weight:tensor gradOutput:tensor ${kRest}`,
    (inputSize: readonly number[], weight, gradOutput, stride, padding, dilation, groups) => {
      checkSize(name, "inputSize", inputSize, spatial);
      const axis = (what: string, given: Ints) => perAxis(name, what, given, spatial);
      const [steps, edges] = [axis("stride", stride), axis("padding", padding)];
      const spreads = axis("dilation", dilation);
      // A convolution maps several input sizes to the size of gradOutput: how much this one is above the smallest.
      const outputPadding = inputSize.slice(-spatial).map((size, d) => {
        const reach = (spreads[d] as number) * ((weight.shape[d + 2] ?? 1) - 1) + 1;
        const least = ((gradOutput.shape[d + 2] ?? 1) - 1) * (steps[d] as number);
        return size - (least - 2 * (edges[d] as number) + reach);
      });
      const options = { stride, padding, outputPadding, groups, dilation };
      const result = transposed(gradOutput, weight, options);
      if (String(result.shape) === String(inputSize)) return result;
      const reason = `inputSize: expected [${result.shape}] for gradOutput [${gradOutput.shape}] and weight [${weight.shape}], got [${inputSize}].`;
      return fail("ShapeMismatch", name, reason);
    },
  );
}

function weightGradient(name: string, spatial: number, convolve: Convolve) {
  return composite(
    name,
    `input:tensor weightSize:ints gradOutput:tensor ${kRest}`,
    (input, weightSize: readonly number[], gradOutput, stride, padding, dilation, groups) => {
      checkSize(name, "weightSize", weightSize, spatial);
      const createGraph = opsAreRecorded() && (input.requiresGrad || gradOutput.requiresGrad);
      // A convolution is linear in its weight, so any weight has the same gradient.
      return recording(() => {
        const { dtype, device } = input;
        const weight = zeros(weightSize, { dtype, device, requiresGrad: true });
        const output = convolve(input, weight, { stride, padding, dilation, groups });
        if (String(output.shape) !== String(gradOutput.shape)) {
          const reason = `gradOutput: expected [${output.shape}] for input [${input.shape}] and weightSize [${weightSize}], got [${gradOutput.shape}].`;
          fail("ShapeMismatch", name, reason);
        }
        return grad(output, weight, { gradOutputs: gradOutput, createGraph })[0] as Tensor;
      });
    },
  );
}

function checkSize(name: string, what: string, size: readonly number[], spatial: number): void {
  if (size.length === spatial + 2) return;
  const reason = `${what}: expected ${spatial + 2} dimensions, got [${size}].`;
  fail("ShapeMismatch", name, reason);
}

/** The gradient of `conv1d` with respect to its input, of size [N, C, L]: weight [out channels, C / groups, k], gradOutput [N, out channels, ...]. */
export const conv1dInput = /* @__PURE__ */ inputGradient("conv1dInput", 1, convTranspose1d);

/** The gradient of `conv1d` with respect to its weight, of size [out channels, C / groups, k]: input [N, C, L], gradOutput [N, out channels, ...]. */
export const conv1dWeight = /* @__PURE__ */ weightGradient("conv1dWeight", 1, conv1d);

/** The gradient of `conv2d` with respect to its input, of size [N, C, H, W]; the other arguments as of `conv1dInput`. */
export const conv2dInput: typeof conv1dInput = /* @__PURE__ */ inputGradient(
  "conv2dInput",
  2,
  convTranspose2d,
);

/** The gradient of `conv2d` with respect to its weight, for an input [N, C, H, W]; the other arguments as of `conv1dWeight`. */
export const conv2dWeight: typeof conv1dWeight = /* @__PURE__ */ weightGradient(
  "conv2dWeight",
  2,
  conv2d,
);

/** The gradient of `conv3d` with respect to its input, of size [N, C, D, H, W]; the other arguments as of `conv1dInput`. */
export const conv3dInput: typeof conv1dInput = /* @__PURE__ */ inputGradient(
  "conv3dInput",
  3,
  convTranspose3d,
);

/** The gradient of `conv3d` with respect to its weight, for an input [N, C, D, H, W]; the other arguments as of `conv1dWeight`. */
export const conv3dWeight: typeof conv1dWeight = /* @__PURE__ */ weightGradient(
  "conv3dWeight",
  3,
  conv3d,
);
