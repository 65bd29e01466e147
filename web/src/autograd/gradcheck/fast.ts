// The fast mode of gradcheck: instead of whole matrices of derivatives it compares their products with random vectors.

import { randn, zerosLike } from "../../generated/ops.js";
import { Tensor } from "../../tensor/tensor.js";
import { repeatedGradients } from "./backward.js";
import { type CallWith, pushedValues } from "./forward.js";
import { elementsOf, filledLike, Mismatch, type Tolerances } from "./matrices.js";
import { type Call, numericalDerivative } from "./numerical_jacobian.js";

/** Compares the derivatives of every output with respect to every input in random directions. */
export function checkFast(
  calls: { readonly call: Call; readonly callWith: CallWith },
  inputs: readonly unknown[],
  wanted: readonly Tensor[],
  modes: { readonly backward: boolean; readonly forward: boolean },
  tolerances: Tolerances,
): void {
  const { eps, atol, rtol } = tolerances;
  const directions = wanted.map((input) => unitVector(elementsOf(input)));
  const numerical = wanted.map((input, j) =>
    numericalDerivative(calls.call, input, directions[j] as Float64Array, eps),
  );
  const compare = (mode: string, i: number, j: number, actual: number, expected: number) => {
    if (Math.abs(actual - expected) <= atol + rtol * Math.abs(expected)) return;
    throw new Mismatch(
      `fast mode: the derivatives${mode} of output ${i} with respect to input ${inputs.indexOf(wanted[j])} differ in random ` +
        `directions: numerical ${expected}, analytical ${actual}.`,
    );
  };
  const outputs = calls.call();
  const weights = outputs.map((output) =>
    unitVector(output instanceof Tensor ? elementsOf(output) : 0),
  );
  const expectedFor = (i: number, j: number) =>
    dot(numerical[j]?.[i] as Float64Array, weights[i] as Float64Array);
  outputs.forEach((output, i) => {
    if (!modes.backward || !(output instanceof Tensor)) return;
    const gradients = output.requiresGrad
      ? repeatedGradients(
          output,
          () => filledLike(output, weights[i] as Float64Array),
          wanted,
          tolerances,
        )
      : wanted.map((input) => new Float64Array(elementsOf(input)));
    gradients.forEach((gradient, j) => {
      compare("", i, j, dot(gradient, directions[j] as Float64Array), expectedFor(i, j));
    });
  });
  if (!modes.forward) return;
  wanted.forEach((input, j) => {
    const direction = filledLike(input, directions[j] as Float64Array);
    const tangents = wanted.map((other) => (other === input ? direction : zerosLike(other)));
    pushedValues(calls.callWith, inputs, wanted, tangents).forEach((pushed, i) => {
      if (!(outputs[i] instanceof Tensor)) return;
      const actual = dot(pushed, weights[i] as Float64Array);
      compare(" in forward mode", i, j, actual, expectedFor(i, j));
    });
  });
}

function unitVector(length: number): Float64Array {
  const values = Float64Array.from(randn([length], { dtype: "float64" }).dataSync(), Number);
  const norm = Math.sqrt(dot(values, values)) || 1;
  return values.map((value) => value / norm);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}
