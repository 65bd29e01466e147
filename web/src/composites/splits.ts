// Splitting a tensor along an axis into views.

import type { Ints } from "../dispatch/types.js";
import { slice } from "../generated/internal.js";
import { narrow } from "../generated/ops.js";
import { fail, refusal } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { axisOf, listOf, sizeOf } from "./shapes.js";

type Places = Ints | Tensor;

/**
 * Splits `input` along `dim` into a number of parts, of which the first ones are longer by one if the size is not divisible,
 * or at the indices of a list.
 */
export const tensorSplit = /* @__PURE__ */ composite(
  "tensorSplit",
  "input:tensor indicesOrSections:any dim:int=0",
  (input, indicesOrSections: Places, dim): Tensor[] => {
    const parts =
      indicesOrSections instanceof Tensor ? indicesOf(indicesOrSections) : indicesOrSections;
    if (input.ndim === 0)
      fail("ShapeMismatch", "tensorSplit", "input: expected at least one dimension.");
    const axis = axisOf("tensorSplit", dim, input.ndim);
    return typeof parts === "number"
      ? sections(input, parts, axis)
      : between(input, checkedIndices("tensorSplit", parts), axis);
  },
);

function indicesOf(tensor: Tensor): unknown {
  return JSON.parse(JSON.stringify(tensor)) as unknown;
}

function checkedIndices(name: string, parts: unknown): readonly number[] {
  if (Array.isArray(parts) && parts.every(Number.isInteger)) return parts as number[];
  const expected = "a number of parts or a list of indices";
  return fail("InvalidArgument", name, refusal("indicesOrSections", expected, parts));
}

function sections(input: Tensor, count: number, axis: number): Tensor[] {
  if (!Number.isInteger(count) || count <= 0) {
    fail(
      "InvalidArgument",
      "tensorSplit",
      `indicesOrSections: expected at least one part, got ${count}.`,
    );
  }
  const size = sizeOf(input, axis);
  const startOf = (i: number) => i * Math.floor(size / count) + Math.min(i, size % count);
  return listOf("tensorSplit", count, (i) =>
    narrow(input, axis, startOf(i), startOf(i + 1) - startOf(i)),
  );
}

function between(input: Tensor, parts: readonly number[], axis: number): Tensor[] {
  const ends = [...parts, null];
  return ends.map((end, i) => slice(input, axis, i === 0 ? 0 : (parts[i - 1] as number), end));
}

/** Splits columns into equal parts, or at indices; a one-dimensional tensor is split along its only axis. */
export const hsplit = /* @__PURE__ */ splitAlong("hsplit", 1, (ndim) => Math.min(ndim - 1, 1));

/** Splits rows into equal parts, or at indices. */
export const vsplit: typeof hsplit = /* @__PURE__ */ splitAlong("vsplit", 2, () => 0);

/** Splits the third axis into equal parts, or at indices. */
export const dsplit: typeof hsplit = /* @__PURE__ */ splitAlong("dsplit", 3, () => 2);

function splitAlong(name: string, least: number, axisFor: (ndim: number) => number) {
  return composite(name, "input:tensor indicesOrSections:any", (input, indicesOrSections: Ints) => {
    if (input.ndim < least) {
      const reason = `input: expected ${least} or more dimensions`;
      fail("ShapeMismatch", name, `${reason}, got [${input.shape}].`);
    }
    const axis = axisFor(input.ndim);
    const parts = indicesOrSections;
    if (typeof parts !== "number") return between(input, checkedIndices(name, parts), axis);
    const size = sizeOf(input, axis);
    if (size % parts !== 0) {
      fail(
        "ShapeMismatch",
        name,
        `input: the size of dimension ${axis}, ${size}, is not divisible by ${parts}.`,
      );
    }
    return sections(input, parts, axis);
  });
}
