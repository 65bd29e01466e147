// Joining several tensors into one.

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
import { fail, refusal } from "../runtime/errors/errors.js";
import { commonShape } from "../tensor/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { positionsLike } from "./constants.js";
import { checkLength, listOf, sizeOf, withLeast } from "./shapes.js";

/** Concatenates tensors along their third axis; tensors with fewer dimensions are extended as by atleast3d(). */
export const dstack = /* @__PURE__ */ composite("dstack", "tensors:tensors", (tensors) =>
  cat(
    tensors.map((tensor) => withLeast(tensor, 3)),
    2,
  ),
);

/** Concatenates tensors along their second axis; tensors with fewer than two dimensions become columns. */
export const columnStack = /* @__PURE__ */ composite("columnStack", "tensors:tensors", (tensors) =>
  cat(
    tensors.map((tensor) => (tensor.ndim < 2 ? reshape(tensor, [tensor.numel, 1]) : tensor)),
    1,
  ),
);

/** A matrix with the given matrices along its diagonal, and zeros elsewhere. */
export const blockDiag = /* @__PURE__ */ composite("blockDiag", "tensors:tensors", (tensors) => {
  const blocks = tensors.map((tensor) => asMatrix(tensor));
  const width = blocks.reduce((total, block) => total + sizeOf(block, 1), 0);
  let before = 0;
  const rows = blocks.map((block) => {
    const own = sizeOf(block, 1);
    const row = pad(block, [before, width - own - before]);
    before += own;
    return row;
  });
  return cat(rows, 0);
});

function asMatrix(tensor: Tensor): Tensor {
  if (tensor.ndim <= 2) return withLeast(tensor, 2);
  const reason = "expected tensors of at most two dimensions";
  return fail("ShapeMismatch", "blockDiag", `${reason}, got [${tensor.shape}].`);
}

/** All combinations of one element from each list, as rows; for a single list, the list itself. */
export const cartesianProd = /* @__PURE__ */ composite(
  "cartesianProd",
  "tensors:tensors",
  (tensors) => {
    for (const { shape } of tensors) {
      if (shape.length !== 1)
        fail(
          "ShapeMismatch",
          "cartesianProd",
          `expected tensors of one dimension, got [${shape}].`,
        );
    }
    const columns = meshgrid(tensors, "ij").map((column) => flatten(column));
    return columns.length === 1 ? (columns[0] as Tensor) : stack(columns, 1);
  },
);

/** All combinations of `r` elements of a list in their order, as rows; with `withReplacement` elements may repeat. */
export const combinations = /* @__PURE__ */ composite(
  "combinations",
  "input:tensor r:int=2 withReplacement:bool=false",
  (input, r, withReplacement) => {
    if (input.ndim !== 1)
      fail("ShapeMismatch", "combinations", `input: expected one dimension, got [${input.shape}].`);
    if (r < 0) fail("InvalidArgument", "combinations", `r: expected 0 or more, got ${r}.`);
    // As PyTorch, which returns an empty tensor rather than one empty row.
    if (r === 0) return narrow(input, 0, 0, 0);
    const indices = choices(input.numel, r, withReplacement);
    return reshape(indexSelect(input, 0, positionsLike(input, indices)), [indices.length / r, r]);
  },
);

// The indices of all combinations, one after the other in lexicographic order.
function choices(count: number, r: number, withReplacement: boolean): number[] {
  const step = withReplacement ? 0 : 1;
  const spare = withReplacement ? count + r - 1 : count;
  checkLength("combinations", r * binomial(spare, r));
  const row = listOf("combinations", r, (i) => i * step);
  const all: number[] = [];
  while ((row[r - 1] ?? 0) < count) {
    for (const index of row) all.push(index);
    // Increments the last index that can grow, and sets those after it as low as possible. If none can grow, the first
    // one does, which ends the loop.
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

/** The shape to which shapes broadcast, as those of the operands of an op do. */
export function broadcastShapes(...shapes: readonly (readonly number[])[]): number[] {
  const kWhere = "broadcastShapes";
  shapes.forEach((shape, i) => {
    if (!Array.isArray(shape) || !shape.every((size) => Number.isInteger(size) && size >= 0)) {
      fail("InvalidArgument", kWhere, refusal(`shapes[${i}]`, "a list of sizes", shape));
    }
  });
  const common = commonShape(...shapes);
  if (common !== null) return common;
  const given = shapes.map((shape) => `[${shape.join(", ")}]`).join(" and ");
  return fail("ShapeMismatch", kWhere, `${given} do not broadcast to one shape.`);
}

/** Views of tensors, expanded to the shape to which they broadcast. */
export const broadcastTensors = /* @__PURE__ */ composite(
  "broadcastTensors",
  "tensors:tensors",
  (tensors): Tensor[] => {
    const shape = broadcastShapes(...tensors.map((tensor) => tensor.shape));
    return tensors.map((tensor) => expand(tensor, shape));
  },
);
