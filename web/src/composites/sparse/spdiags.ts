import { sparseTensor } from "../../generated/internal.js";
import { cat, narrow, select, unsqueeze, zeros } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";

/**
 * A sparse matrix of `shape` with the rows of `diagonals` [count, length], or a single one [length], on its diagonals at `offsets`: 0 is the
 * main diagonal, positive ones are above it. The element of column j is the j-th of a row; those beyond the matrix are left out. Gradients
 * flow to `diagonals`. Throws InvalidArgument for offsets that occur twice, and ShapeMismatch for a count that is not that of the offsets.
 */
export const spdiags = /* @__PURE__ */ composite(
  "sparse.spdiags",
  "diagonals:tensor offsets:ints shape:ints",
  (diagonals, offsets, shape: readonly number[]) => {
    const distances = typeof offsets === "number" ? [offsets] : offsets;
    const rows = diagonals.ndim === 1 ? unsqueeze(diagonals, 0) : diagonals;
    check(rows, distances, shape);
    const [height = 0, width = 0] = shape;
    const length = rows.shape[1] as number;
    const rowOf: number[] = [];
    const columnOf: number[] = [];
    const parts = distances.map((offset, i) => {
      const first = Math.max(0, offset);
      const end = Math.max(first, Math.min(width, height + offset, length));
      for (let column = first; column < end; column++) {
        rowOf.push(column - offset);
        columnOf.push(column);
      }
      const start = Math.min(first, length);
      return narrow(select(rows, 0, i), 0, start, end - first);
    });
    const { dtype, device } = diagonals;
    const values = parts.length > 0 ? cat(parts) : zeros([0], { dtype, device });
    const indices = tensor([rowOf, columnOf], { dtype: "int64", device });
    return sparseTensor(values, indices, null, shape, false);
  },
);

function check(rows: Tensor, offsets: readonly number[], shape: readonly number[]): void {
  const where = "sparse.spdiags";
  const refuse = (message: string) => fail("ShapeMismatch", where, message);
  if (shape.length !== 2) refuse(`shape: expected two sizes, got ${shape.length}.`);
  if (rows.ndim !== 2)
    refuse(`diagonals: expected a vector or a matrix, got ${rows.ndim} dimensions.`);
  if (rows.shape[0] !== offsets.length)
    refuse(`expected as many offsets as diagonals, ${rows.shape[0]}, got ${offsets.length}.`);
  if (new Set(offsets).size !== offsets.length)
    fail(
      "InvalidArgument",
      where,
      `offsets: expected different numbers, got ${offsets.join(", ")}.`,
    );
}
