// Gaussian elimination of complex matrices, column by column.

import { toDtype } from "../../generated/internal.js";
import {
  abs,
  add,
  arange,
  argmax,
  cat,
  detach,
  div,
  eq,
  expand,
  gather,
  imag,
  matmul,
  narrow,
  neg,
  ones,
  onesLike,
  pad,
  real,
  select,
  sub,
  unsqueeze,
  where,
  zeros,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/**
 * The order of the rows of matrices, [..., m]; the row with which the k-th was exchanged, counted from 1, as int32; and the
 * parity of the exchanges, 1 or -1, [...].
 */
interface Pivots {
  readonly order: Tensor;
  readonly exchanged: Tensor;
  readonly parity: Tensor;
}

/** L U = A, with the rows of A in that order. */
interface Elimination extends Pivots {
  readonly L: Tensor;
  readonly U: Tensor;
}

/** Eliminates below the diagonal of matrices [..., m, n], with the row whose element is largest as the pivot. */
export function eliminated(A: Tensor): Elimination {
  const pivots = pivotsOf(detach(A));
  const [rows = 0, columns = 0] = A.shape.slice(-2);
  const count = Math.min(rows, columns);
  let rest = rowsOf(A, pivots.order);
  const { dtype, device } = A;
  const lower = [zeros([...A.shape.slice(0, -1), 0], { dtype, device })];
  const upper = [zeros([...A.shape.slice(0, -2), 0, columns], { dtype, device })];
  for (let k = 0; k < count; k++) {
    const { first, factors, next } = step(rest);
    upper.push(pad(first, [k, 0]));
    lower.push(pad(cat([onesLike(narrow(first, -1, 0, 1)), factors], -2), [0, 0, k, 0]));
    rest = next;
  }
  return { ...pivots, L: cat(lower, -1), U: cat(upper, -2) };
}

function pivotsOf(A: Tensor): Pivots {
  const { device } = A;
  const batch = A.shape.slice(0, -2);
  const [rows = 0, columns = 0] = A.shape.slice(-2);
  let order = expand(arange(rows, { dtype: "int64", device }), [...batch, rows]);
  let parity = ones(batch, { dtype: real(A).dtype, device });
  const exchanged = [zeros([...batch, 0], { dtype: "int32", device })];
  let rest = A;
  for (let k = 0; k < Math.min(rows, columns); k++) {
    const heads = select(rest, -1, 0);
    // The magnitude by which LAPACK chooses the pivot.
    const at = argmax(add(abs(real(heads)), abs(imag(heads))), -1, true);
    exchanged.push(toDtype(add(at, k + 1), "int32"));
    const indices = arange(rows - k, { dtype: "int64", device });
    const swapped = where(eq(indices, 0), at, where(eq(indices, at), 0, indices));
    const later = gather(narrow(order, -1, k, rows - k), -1, swapped);
    order = cat([narrow(order, -1, 0, k), later], -1);
    parity = where(eq(select(at, -1, 0), 0), parity, neg(parity));
    rest = step(rowsOf(rest, swapped)).next;
  }
  return { order, exchanged: cat(exchanged, -1), parity };
}

interface Step {
  readonly first: Tensor;
  readonly factors: Tensor;
  readonly next: Tensor;
}

// The first row, the factors by which it is subtracted from the other rows, and the remaining rows.
function step(A: Tensor): Step {
  const [rows = 0, columns = 0] = A.shape.slice(-2);
  const first = narrow(A, -2, 0, 1);
  const others = narrow(A, -2, 1, rows - 1);
  const head = narrow(first, -1, 0, 1);
  // A column of zeros needs no elimination.
  const factors = div(narrow(others, -1, 0, 1), where(eq(head, 0), 1, head));
  const [right, below] = [first, others].map((part) => narrow(part, -1, 1, columns - 1));
  const next = sub(below as Tensor, matmul(factors, right as Tensor));
  return { first, factors, next };
}

function rowsOf(A: Tensor, order: Tensor): Tensor {
  return gather(A, -2, expand(unsqueeze(order, -1), A.shape));
}
