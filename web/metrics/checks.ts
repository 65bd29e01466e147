// Checks of the arguments of metrics.

import { type DType, Tensor } from "edgegrad";
import { describe, fail } from "../errors/errors.js";

const kIntegers: readonly DType[] = ["int64", "int32", "int16", "int8", "uint8"];

/** Checks that a value is a tensor of one of these numbers of dimensions. */
export function checkTensor(value: Tensor, name: string, where: string, dims?: readonly number[]) {
  if (!(value instanceof Tensor))
    fail("InvalidArgument", where, `${name}: expected a tensor, got ${describe(value)}.`);
  if (dims === undefined || dims.includes(value.ndim)) return;
  const wanted = dims.join(" or ");
  fail(
    "ShapeMismatch",
    where,
    `${name}: expected ${wanted} ${wanted === "1" ? "dimension" : "dimensions"}, got the shape [${value.shape.join(", ")}].`,
  );
}

/** Checks that a tensor contains numbers of classes. */
export function checkClasses(value: Tensor, name: string, where: string): void {
  if (kIntegers.includes(value.dtype)) return;
  fail(
    "DtypeMismatch",
    where,
    `${name}: expected numbers of classes, of an integer dtype, got ${value.dtype}. Write ${name}.to('int64').`,
  );
}

/** Checks that there is a target for each row of an output, and at least one. */
export function checkRows(output: Tensor, target: Tensor, where: string): void {
  checkTensor(target, "target", where, [1]);
  if (output.shape[0] !== target.shape[0])
    fail(
      "ShapeMismatch",
      where,
      `target: expected ${output.shape[0]} elements, one per row of output, got ${target.shape[0]}.`,
    );
  if (target.numel === 0)
    fail("InvalidArgument", where, "expected at least one element, got none: there is no mean.");
}

/** Checks scores of shape [N, C], or classes of shape [N], and the classes that are right. */
export function checkPredictions(output: Tensor, target: Tensor, where: string): void {
  checkTensor(output, "output", where, [1, 2]);
  checkRows(output, target, where);
  checkClasses(target, "target", where);
}

/** Checks that two tensors have the same shape. */
export function checkAlike(output: Tensor, target: Tensor, where: string): void {
  if (output.shape.join() === target.shape.join()) return;
  const [a, b] = [output, target].map(({ shape }) => `[${shape.join(", ")}]`);
  fail("ShapeMismatch", where, `output and target: expected the same shape, got ${a} and ${b}.`);
}
