// Complex numbers where the engine takes only real ones. Almost all such numbers are factors of an operand, which the op lines name,
// as in `alpha:number(other)`: instead of the op, the operand is multiplied.

import { fail } from "../runtime/errors/errors.js";
import { type Complex, isComplex, isComplexNumber } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { opOf } from "./op_lines.js";
import { Kind, type Op } from "./signature.js";

/** Runs an op in the engine. */
type Run = (op: Op, values: readonly unknown[]) => unknown;

const kFactors: readonly Kind[] = [Kind.Number, Kind.Scalar];

/**
 * For a call whose arguments could not be encoded: runs it `again` without a complex number among them that is a factor, or the
 * value that a new tensor is filled with. Throws the error if that is not what is wrong.
 */
export function withComplex<T>(
  op: Op,
  values: readonly unknown[],
  error: unknown,
  run: Run,
  again: (values: readonly unknown[]) => T,
): T {
  const at = values.findIndex(
    (value, i) => kFactors.includes(op.kinds[i] as Kind) && isComplexNumber(value),
  );
  const parameter = op.parameters[at];
  if (parameter === undefined) throw error;
  const number = values[at] as Complex;
  const withNumber = (real: number) => values.map((value, i) => (i === at ? real : value));
  if (number.im === 0) return again(withNumber(number.re));
  if (op.name === "fullLike") {
    const result = again(withNumber(0)) as Tensor;
    try {
      run(opOf("fill_"), [result, number]);
      return result as T;
    } catch (refusal) {
      result.dispose();
      throw refusal;
    }
  }
  const factor = op.parameters.findIndex(({ name }) => name === parameter.choices[0]);
  if (factor < 0) throw error;
  const isOperand = (i: number) =>
    factor === 0 ? i === 0 : !kFactors.includes(op.kinds[i] as Kind);
  if (!values.some((value, i) => isOperand(i) && isComplexOperand(value))) {
    fail(
      "DtypeMismatch",
      op.name,
      `${parameter.name}: a complex number needs complex operands, got real ones.`,
    );
  }
  const product = run(opOf("mul"), [values[factor], number]) as Tensor;
  try {
    return again(withNumber(1).map((value, i) => (i === factor ? product : value)));
  } finally {
    product.dispose();
  }
}

function isComplexOperand(value: unknown): boolean {
  return value instanceof Tensor ? isComplex(value.dtype) : isComplexNumber(value);
}
