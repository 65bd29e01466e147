// norm(), also by the names of norms.

import type { Arguments } from "../arguments/read.js";
import type { Ints } from "../dispatch/types.js";
import { movedim, norm as normOfOrder, reshape, sum, svdvals } from "../generated/ops.js";
import { fail, refusal } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { axisOf } from "./shapes.js";

type Order = number | "fro" | "nuc";

/**
 * The p-norm of all elements as one vector, or of the vectors along dim. "fro" is the 2-norm, "nuc" the sum of the singular values
 * of a matrix, whose two axes `dim` may name.
 */
export const norm: (
  input: Tensor,
  ...rest: Arguments<
    [p: Order, dim: Ints | null, keepdim: boolean],
    { p?: Order; dim?: Ints | null; keepdim?: boolean }
  >
) => Tensor = /* @__PURE__ */ composite(
  "norm",
  "input:tensor p:any=2 dim:ints?=null keepdim:bool=false",
  (input: Tensor, p: unknown, dim: Ints | null, keepdim: boolean) => {
    if (p === "nuc") return nuclear(input, dim, keepdim);
    if (p === "fro" || typeof p === "number")
      return normOfOrder(input, p === "fro" ? 2 : p, dim, keepdim);
    return fail("InvalidArgument", "norm", refusal("p", 'a number, "fro" or "nuc"', p));
  },
);

function nuclear(input: Tensor, dim: Ints | null, keepdim: boolean): Tensor {
  const dims = dim === null ? input.shape.map((_, d) => d) : [dim].flat();
  const axes = dims.map((one) => axisOf("norm", one, input.ndim));
  if (axes.length !== 2 || axes[0] === axes[1]) {
    const told = "the nuclear norm is that of a matrix: expected two dimensions";
    fail("InvalidArgument", "norm", `${told}, got [${dims}] of the shape [${input.shape}].`);
  }
  const norms = sum(svdvals(movedim(input, axes, [-2, -1])), -1);
  return keepdim
    ? reshape(
        norms,
        input.shape.map((size, d) => (axes.includes(d) ? 1 : size)),
      )
    : norms;
}
