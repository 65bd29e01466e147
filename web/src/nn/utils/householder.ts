// Householder reflections that make a matrix triangular, chosen as in LAPACK's geqrf.

import { norm } from "../../generated/internal.js";
import {
  add,
  cat,
  div,
  eq,
  ge,
  matmul,
  mul,
  narrow,
  neg,
  onesLike,
  sign,
  sqrt,
  square,
  sub,
  transpose,
  where,
  zeros,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/**
 * Returns the reflections whose product makes a matrix [..., rows, columns] triangular: their directions below the diagonal,
 * and on the diagonal the signs of the triangle's diagonal, negated where there is nothing to reflect.
 */
export function reflectionsOf(matrix: Tensor): Tensor {
  const { dtype, device, shape } = matrix;
  const columns = shape.at(-1) ?? 0;
  let rest = matrix;
  const made = Array.from({ length: columns }, (_, i) => {
    const { direction, mark, next } = reflect(rest);
    rest = next;
    const above = zeros([...shape.slice(0, -2), i, 1], { dtype, device });
    return cat([above, mark, direction], -2);
  });
  return made.length > 0 ? cat(made, -1) : matrix;
}

// Reflects the first column onto the first axis; `next` is the remaining matrix below and right of it.
function reflect(matrix: Tensor): { direction: Tensor; mark: Tensor; next: Tensor } {
  const [rows = 0, columns = 0] = matrix.shape.slice(-2);
  const column = narrow(matrix, -1, 0, 1);
  const [first, tail] = [narrow(column, -2, 0, 1), narrow(column, -2, 1, rows - 1)];
  const length = norm(tail, 2, -2, true);
  const isDone = eq(length, 0);
  const whole = sqrt(add(square(first), square(length)));
  const moved = where(ge(first, 0), neg(whole), whole);
  const diagonal = where(isDone, first, moved);
  const direction = where(isDone, tail, div(tail, sub(first, moved)));
  const scale = where(isDone, 0, div(sub(moved, first), moved));
  const v = cat([onesLike(first), direction], -2);
  const others = narrow(matrix, -1, 1, columns - 1);
  const inner = matmul(transpose(v, -2, -1), others);
  const next = narrow(sub(others, mul(scale, matmul(v, inner))), -2, 1, rows - 1);
  const mark = where(isDone, neg(sign(diagonal)), sign(diagonal));
  return { direction, mark, next };
}
