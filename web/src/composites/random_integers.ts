// Random integers in the shape of a tensor.

import type { GeneratorOption } from "../arguments/generator.js";
import { withGenerator } from "../dispatch/with_generator.js";
import { emptyLike, random_ } from "../generated/ops.js";
import type { Device, DType } from "../tensor/dtype.js";
import type { TensorOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";
import { compositeFactory } from "./composite.js";

type End = number | bigint;
type DrawOptions = TensorOptions & GeneratorOption;

interface RandintLike {
  (input: Tensor, high: End, options?: DrawOptions): Tensor;
  (input: Tensor, low: End, high: End, options?: DrawOptions): Tensor;
  (input: Tensor, options: { low?: End; high: End } & DrawOptions): Tensor;
}

/** Random integers in [low, high) in the shape of `input`, by default of its dtype; randintLike(input, high) begins at 0. */
export const randintLike = /* @__PURE__ */ withGenerator(
  /* @__PURE__ */ compositeFactory<RandintLike>(
    "randintLike",
    "input:tensor low:scalar=0 high:scalar?=null dtype:dtype?=null",
    (input: Tensor, low: End, high: End | null, dtype: DType | null, device?: Device) => {
      const drawn = emptyLike(input, { dtype: dtype ?? input.dtype, device });
      return high === null ? random_(drawn, 0, low) : random_(drawn, low, high);
    },
  ),
);
