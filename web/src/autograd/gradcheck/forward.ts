// Checks of tangents in forward mode.

import { zerosLike } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { dualLevel, makeDual, unpackDual } from "../forward_ad.js";
import { areClose, elementsOf, Mismatch, print, requiresGrad, unitLike } from "./matrices.js";
import { type Matrix, newMatrix, valuesOf } from "./numerical_jacobian.js";

/** Calls the checked function with other inputs and returns its results. */
export type CallWith = (inputs: readonly unknown[]) => readonly unknown[];

/** Returns the numbers of the tangents of all results; zeros for one without a tangent. A null among `tangents` is none. */
export function pushedValues(
  call: CallWith,
  inputs: readonly unknown[],
  wanted: readonly Tensor[],
  tangents: readonly (Tensor | null)[],
): Float64Array[] {
  return scope(() =>
    dualLevel(() => {
      const duals = inputs.map((input) => {
        if (!requiresGrad(input)) return input;
        // As where no gradient is recorded: the tangents alone are wanted.
        const primal = input.detach();
        const tangent = tangents[wanted.indexOf(input)] ?? null;
        return tangent === null ? primal : makeDual(primal, tangent);
      });
      return call(duals).map((output) => {
        if (!(output instanceof Tensor)) return new Float64Array(0);
        const { tangent } = unpackDual(output);
        return tangent === null ? new Float64Array(elementsOf(output)) : valuesOf(tangent);
      });
    }),
  );
}

/** Compares tangents with `numerical`, the numerical derivatives by inputs and outputs. */
export function checkForwardJacobians(
  call: CallWith,
  inputs: readonly unknown[],
  wanted: readonly Tensor[],
  numerical: readonly (readonly Matrix[])[],
  { atol, rtol }: { readonly atol: number; readonly rtol: number },
): void {
  wanted.forEach((input, j) => {
    const rows = elementsOf(input);
    const matrices: Matrix[] = [];
    for (let row = 0; row < rows; row++) {
      const tangents = wanted.map((other) =>
        other === input ? unitLike(other, row) : zerosLike(other),
      );
      pushedValues(call, inputs, wanted, tangents).forEach((values, i) => {
        matrices[i] ??= newMatrix(rows * values.length);
        matrices[i].set(values, row * values.length);
      });
    }
    matrices.forEach((actual, i) => {
      const expected = numerical[j]?.[i] as Matrix;
      if (areClose(actual, expected, atol, rtol)) return;
      const columns = actual.length / rows;
      throw new Mismatch(
        `the derivatives in forward mode of output ${i} with respect to input ${inputs.indexOf(input)} differ:\nnumerical:` +
          `${print(expected, columns)}\nforward:${print(actual, columns)}`,
      );
    });
  });
}

/** A missing tangent must have the same effect as zeros. */
export function checkUndefinedTangents(
  call: CallWith,
  inputs: readonly unknown[],
  wanted: readonly Tensor[],
): void {
  if (wanted.length < 2) return;
  wanted.forEach((input, j) => {
    const unit = unitLike(input, 0);
    const pushed = [true, false].map((areZeros) =>
      pushedValues(
        call,
        inputs,
        wanted,
        wanted.map((other) => (other === input ? unit : areZeros ? zerosLike(other) : null)),
      ),
    );
    const [zeros = [], none = []] = pushed;
    zeros.forEach((values, i) => {
      if (values.every((value, k) => value === none[i]?.[k])) return;
      throw new Mismatch(
        `the tangent of output ${i} for one of input ${j} alone differs from that with zeros for the others.`,
      );
    });
  });
}
