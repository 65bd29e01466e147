// The arguments of the constructors of distributions, and the broadcasting of parameters.

import { boolean, either, listOf, type Options, Rule, size } from "../../arguments/rule.js";
import { tensor } from "../../ops/create.js";
import { fail } from "../../runtime/errors/errors.js";
import { commonShape, hasShape } from "../../tensor/shape.js";
import { Tensor } from "../../tensor/tensor.js";

/** A parameter of a distribution: a tensor, or a number, which becomes a tensor without dimensions. */
export type Parameter = Tensor | number;

/** The leading dimensions of a sample: a list of sizes, or one size. */
export type SampleShape = number | readonly number[];

export const parameter = /* @__PURE__ */ new Rule<Parameter>("a tensor or a number", (value) => {
  return value instanceof Tensor || typeof value === "number";
});

export const sampleShape: Rule<SampleShape> = /* @__PURE__ */ either(
  size,
  /* @__PURE__ */ listOf(size),
);

export const kDistributionOptions = {
  /** Check parameters and values against their constraints; default true, see `Distribution.setDefaultValidateArgs`. */
  validateArgs: boolean.orNull(),
};

/** Options of every distribution. */
export interface DistributionOptions extends Options<typeof kDistributionOptions> {}

/** The last argument of every distribution, by position or by name. */
export type Validation =
  | [options?: DistributionOptions]
  | [validateArgs?: boolean | null | undefined];

/** Returns the sizes as a list. */
export function shapeOf(where: string, shape: SampleShape): readonly number[] {
  const checked = sampleShape.check(where, "shape", shape);
  return typeof checked === "number" ? [checked] : checked;
}

/** Returns the common shape of broadcasting; throws ShapeMismatch if the shapes cannot be broadcast. */
export function broadcastShapes(where: string, ...shapes: (readonly number[])[]): number[] {
  const common = commonShape(...shapes);
  if (common !== null) return common;
  const listed = shapes.map((shape) => `[${shape.join(", ")}]`).join(" and ");
  return fail("ShapeMismatch", where, `the shapes ${listed} cannot be broadcast together.`);
}

/** Returns the values as tensors of one shape; a number gets the dtype and device of the first tensor. */
export function broadcastAll<const T extends readonly Parameter[]>(
  where: string,
  ...values: T
): { -readonly [Index in keyof T]: Tensor } {
  const first = values.find((value) => value instanceof Tensor) as Tensor | undefined;
  const kind = first ? { dtype: first.dtype, device: first.device } : {};
  const tensors = values.map((value) => (value instanceof Tensor ? value : tensor(value, kind)));
  const shape = broadcastShapes(where, ...tensors.map((tensor) => tensor.shape));
  return tensors.map((tensor) => expandTo(tensor, shape)) as {
    -readonly [Index in keyof T]: Tensor;
  };
}

/** Returns `value` expanded to a shape; `value` itself if it already has that shape. */
export function expandTo(value: Tensor, shape: readonly number[]): Tensor {
  return hasShape(value.shape, shape) ? value : value.expand(shape);
}

/** Returns the length of each part, by default 1; throws InvalidArgument unless there is one per part. */
export function partLengths(
  where: string,
  count: number,
  lengths: readonly number[] | null,
): number[] {
  const checked = listOf(size).check(where, "lengths", lengths ?? new Array(count).fill(1));
  if (checked.length === count) return [...checked];
  const message = `lengths: expected one for each of ${count} parts, got ${checked.length}.`;
  return fail("InvalidArgument", where, message);
}
