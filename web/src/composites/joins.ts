// One tensor of several.

import type { Arguments } from "../arguments/read.js";
import {
  cat,
  expand,
  flatten,
  indexSelect,
  meshgrid,
  narrow,
  pad,
  reshape,
  stack,
} from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { positionsLike } from "./constants.js";
import { checkRoom, listOf, sizeOf, withLeast } from "./shapes.js";

/** Tensors side by side along their third axis; those of fewer dimensions get it as atleast3d() gives it. */
export const dstack: (tensors: readonly Tensor[]) => Tensor = /* @__PURE__ */ composite(
  "dstack",
  "tensors:tensors",
  (tensors: readonly Tensor[]) =>
    cat(
      tensors.map((one) => withLeast(one, 3)),
      2,
    ),
);

/** Tensors side by side along their second axis; those of fewer than two dimensions are columns. */
export const columnStack: (tensors: readonly Tensor[]) => Tensor = /* @__PURE__ */ composite(
  "columnStack",
  "tensors:tensors",
  (tensors: readonly Tensor[]) =>
    cat(
      tensors.map((one) => (one.ndim < 2 ? reshape(one, [one.numel, 1]) : one)),
      1,
    ),
);

/** Matrices along the diagonal of one, and zeros elsewhere. */
export const blockDiag: (tensors: readonly Tensor[]) => Tensor = /* @__PURE__ */ composite(
  "blockDiag",
  "tensors:tensors",
  (tensors: readonly Tensor[]) => {
    const blocks = tensors.map((one) => asMatrix(one));
    const width = blocks.reduce((total, block) => total + sizeOf(block, 1), 0);
    let before = 0;
    const rows = blocks.map((block) => {
      const own = sizeOf(block, 1);
      const row = pad(block, [before, width - own - before]);
      before += own;
      return row;
    });
    return cat(rows, 0);
  },
);

function asMatrix(tensor: Tensor): Tensor {
  if (tensor.ndim <= 2) return withLeast(tensor, 2);
  const told = "input tensors must have two or fewer dimensions";
  return fail("ShapeMismatch", "blockDiag", `${told}, got [${tensor.shape}].`);
}

/** All choices of one element from each list, as rows; of a single list, its elements. */
export const cartesianProd: (tensors: readonly Tensor[]) => Tensor = /* @__PURE__ */ composite(
  "cartesianProd",
  "tensors:tensors",
  (tensors: readonly Tensor[]) => {
    for (const { shape } of tensors) {
      if (shape.length !== 1)
        fail("ShapeMismatch", "cartesianProd", `expected 1-d vectors, got [${shape}].`);
    }
    const columns = meshgrid(tensors, "ij").map((one) => flatten(one));
    return columns.length === 1 ? (columns[0] as Tensor) : stack(columns, 1);
  },
);

/** All choices of `r` elements of a list in their order, as rows; `withReplacement` may choose one more than once. */
export const combinations: (
  input: Tensor,
  ...rest: Arguments<
    [r: number, withReplacement: boolean],
    { r?: number; withReplacement?: boolean }
  >
) => Tensor = /* @__PURE__ */ composite(
  "combinations",
  "input:tensor r:int=2 withReplacement:bool=false",
  (input: Tensor, r: number, withReplacement: boolean) => {
    if (input.ndim !== 1)
      fail("ShapeMismatch", "combinations", `expected a 1-d vector, got [${input.shape}].`);
    if (r < 0)
      fail("InvalidArgument", "combinations", `expected a non-negative number for r, got ${r}.`);
    // PyTorch has no row of nothing.
    if (r === 0) return narrow(input, 0, 0, 0);
    const places = choices(input.numel, r, withReplacement);
    return reshape(indexSelect(input, 0, positionsLike(input, places)), [places.length / r, r]);
  },
);

// The positions of all choices, one after the other; each is the one before with its last part moved on.
function choices(count: number, r: number, withReplacement: boolean): number[] {
  const step = withReplacement ? 0 : 1;
  const spare = withReplacement ? count + r - 1 : count;
  checkRoom("combinations", r * binomial(spare, r));
  const row = listOf("combinations", r, (i) => i * step);
  const all: number[] = [];
  while ((row[r - 1] ?? 0) < count) {
    for (const place of row) all.push(place);
    // The last one that can move, and those after it as near as may be; where none can, the last one leaves the list.
    let i = r - 1;
    while (i > 0 && (row[i] ?? 0) + 1 + (r - 1 - i) * step >= count) i--;
    const from = (row[i] ?? 0) + 1;
    for (let k = i; k < r; k++) row[k] = from + (k - i) * step;
  }
  return all;
}

function binomial(n: number, k: number): number {
  let product = 1;
  for (let i = 0; i < Math.min(k, n - k) && product < Infinity; i++) product *= (n - i) / (i + 1);
  return n < k ? 0 : product;
}

/** Views of tensors in the shape that all of them are broadcast to. */
export const broadcastTensors: (tensors: readonly Tensor[]) => Tensor[] = /* @__PURE__ */ composite(
  "broadcastTensors",
  "tensors:tensors",
  (tensors: readonly Tensor[]) => {
    const shape = commonShape(tensors);
    return tensors.map((one) => expand(one, shape));
  },
);

function commonShape(tensors: readonly Tensor[]): number[] {
  const ndim = Math.max(0, ...tensors.map((one) => one.ndim));
  return Array.from({ length: ndim }, (_, d) => {
    const sizes = tensors.map((one) => one.shape[d + one.ndim - ndim] ?? 1);
    return sizes.find((size) => size !== 1) ?? 1;
  });
}
