// What the lookups of tables share beside the lookup: limits on norms, and gradients by frequency.

import { Function as AutogradFunction, type FunctionContext } from "../autograd/function.js";
import { noGrad } from "../autograd/grad_mode.js";
import {
  add,
  clone,
  div,
  gt,
  indexAdd,
  indexPut_,
  indexSelect,
  mul,
  norm,
  onesLike,
  reshape,
  unsqueeze,
  where,
  zeros,
} from "../generated/ops.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";

/** Scales the rows of `weight` that `indices` name down in place, where their norm of order `p` is above `maxNorm`. */
export function limitNorms(weight: Tensor, indices: Tensor, maxNorm: number, p: number): void {
  if (indices.numel === 0) return;
  scope(() =>
    noGrad(() => {
      const flat = reshape(indices, [-1]);
      const rows = indexSelect(weight, 0, flat);
      const norms = norm(rows, p, 1, true);
      // PyTorch's small number, which keeps a limit of 0 finite.
      const limited = mul(rows, div(maxNorm, add(norms, 1e-7)));
      // A row that comes twice is written twice, with the same values.
      indexPut_(weight, [flat], where(gt(norms, maxNorm), limited, rows));
    }),
  );
}

/** Returns rows looked up by `indices` in a table of `count` rows; gradients are divided by how often an index occurs. */
export function dividedByFrequency(rows: Tensor, indices: Tensor, count: number): Tensor {
  if (!rows.requiresGrad) return rows;
  const { dtype, device } = rows;
  const flat = reshape(indices, [-1]);
  const times = indexAdd(zeros([count], { dtype, device }), 0, flat, onesLike(flat, { dtype }));
  const each = reshape(indexSelect(times, 0, flat), indices.shape);
  return ByFrequency.apply(rows, unsqueeze(each, -1));
}

class ByFrequency extends AutogradFunction {
  static override readonly generateVmapRule = true;

  static override forward(ctx: FunctionContext, rows: Tensor, times: Tensor): Tensor {
    ctx.saveForBackward(times);
    return clone(rows);
  }

  static override backward(ctx: FunctionContext, grad: Tensor): [Tensor, null] {
    const [times] = ctx.savedTensors as [Tensor];
    return [div(grad, times), null];
  }
}
