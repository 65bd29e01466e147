// A tensor in parts along an axis; all are views.

import type { Arguments } from "../arguments/read.js";
import type { Ints } from "../dispatch/types.js";
import { slice } from "../generated/internal.js";
import { narrow } from "../generated/ops.js";
import { fail, refusal } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { axisOf, listOf, sizeOf } from "./shapes.js";

type Places = Ints | Tensor;

/**
 * Parts of `input` along `dim`: as many as a number says, the first ones longer by one where they cannot be equal, or those
 * between the positions of a list.
 */
export const tensorSplit: (
  input: Tensor,
  indicesOrSections: Places,
  ...rest: Arguments<[dim: number], { dim?: number }>
) => Tensor[] = /* @__PURE__ */ composite(
  "tensorSplit",
  "input:tensor indicesOrSections:any dim:int=0",
  (input: Tensor, given: unknown, dim: number) => {
    const places = given instanceof Tensor ? placesOf(given) : given;
    if (input.ndim === 0)
      fail("ShapeMismatch", "tensorSplit", "expected at least a 1-dimensional tensor.");
    const axis = axisOf("tensorSplit", dim, input.ndim);
    return typeof places === "number"
      ? sections(input, places, axis)
      : between(input, checkedPlaces("tensorSplit", places), axis);
  },
);

function placesOf(tensor: Tensor): unknown {
  return JSON.parse(JSON.stringify(tensor)) as unknown;
}

function checkedPlaces(name: string, places: unknown): readonly number[] {
  if (Array.isArray(places) && places.every(Number.isInteger)) return places as number[];
  const expected = "a number of parts or a list of positions";
  return fail("InvalidArgument", name, refusal("indicesOrSections", expected, places));
}

function sections(input: Tensor, count: number, axis: number): Tensor[] {
  if (!Number.isInteger(count) || count <= 0) {
    fail(
      "InvalidArgument",
      "tensorSplit",
      `number of sections must be larger than 0, got ${count}.`,
    );
  }
  const size = sizeOf(input, axis);
  const startOf = (i: number) => i * Math.floor(size / count) + Math.min(i, size % count);
  return listOf("tensorSplit", count, (i) =>
    narrow(input, axis, startOf(i), startOf(i + 1) - startOf(i)),
  );
}

function between(input: Tensor, places: readonly number[], axis: number): Tensor[] {
  const ends = [...places, null];
  return ends.map((end, i) => slice(input, axis, i === 0 ? 0 : (places[i - 1] as number), end));
}

/** Equal parts of columns, or those between positions; of a list, parts of it. */
export const hsplit: {
  (input: Tensor, sections: number): Tensor[];
  (input: Tensor, indices: readonly number[]): Tensor[];
} = /* @__PURE__ */ splitAlong("hsplit", 1, (ndim) => Math.min(ndim - 1, 1));

/** Equal parts of rows, or those between positions. */
export const vsplit: typeof hsplit = /* @__PURE__ */ splitAlong("vsplit", 2, () => 0);

/** Equal parts along the third axis, or those between positions. */
export const dsplit: typeof hsplit = /* @__PURE__ */ splitAlong("dsplit", 3, () => 2);

function splitAlong(name: string, least: number, axisFor: (ndim: number) => number): typeof hsplit {
  return composite(name, "input:tensor indicesOrSections:any", (input: Tensor, places: unknown) => {
    if (input.ndim < least) {
      const told = `requires a tensor with at least ${least} dimension(s)`;
      fail("ShapeMismatch", name, `${told}, got [${input.shape}].`);
    }
    const axis = axisFor(input.ndim);
    if (typeof places !== "number") return between(input, checkedPlaces(name, places), axis);
    const size = sizeOf(input, axis);
    if (size % places !== 0) {
      fail(
        "ShapeMismatch",
        name,
        `the size ${size} of axis ${axis} is not divisible by ${places}.`,
      );
    }
    return sections(input, places, axis);
  });
}
