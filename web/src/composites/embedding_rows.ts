// What embedding lookups share: limits on the norms of rows, and gradients divided by frequency.

import { Function as AutogradFunction, type FunctionContext } from "../autograd/function.js";
import { noGrad } from "../autograd/grad_mode.js";
import { norm } from "../generated/internal.js";
import {
  add,
  clone,
  detach,
  div,
  gt,
  indexAdd,
  indexPut_,
  indexSelect,
  mul,
  onesLike,
  reshape,
  unsqueeze,
  where,
  zeros,
} from "../generated/ops.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * Scales rows of `weight` selected by `indices` down in place if their norm of order `p` exceeds `maxNorm`. No derivative sees it: as in
 * PyTorch, a tangent of `weight` stays as it is.
 */
export function limitNorms(weight: Tensor, indices: Tensor, maxNorm: number, p: number): void {
  if (indices.numel === 0) return;
  scope(() =>
    noGrad(() => {
      const flat = reshape(indices, [-1]);
      const table = detach(weight);
      const rows = indexSelect(table, 0, flat);
      const norms = norm(rows, p, 1, true);
      // PyTorch's epsilon, which avoids a division by 0.
      const limited = mul(rows, div(maxNorm, add(norms, 1e-7)));
      // A row that is selected twice is written twice, with the same values.
      indexPut_(table, [flat], where(gt(norms, maxNorm), limited, rows));
    }),
  );
}

/** Returns `rows`, looked up by `indices` in a table of `count` rows, with gradients divided by the frequency of their index. */
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
