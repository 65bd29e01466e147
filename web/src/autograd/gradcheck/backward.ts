// Checks of gradients in reverse mode.

import { randn, stack, zerosLike } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { Function as AutogradFunction, type FunctionContext } from "../function.js";
import { grad } from "../grad.js";
import {
  areClose,
  elementsOf,
  Mismatch,
  print,
  requiresGrad,
  type Tolerances,
  unitLike,
} from "./matrices.js";
import { type Call, type Matrix, newMatrix, valuesOf } from "./numerical_jacobian.js";

/** Compares the gradients of every output with `numerical`, the numerical derivatives by inputs and outputs. */
export function checkJacobians(
  call: Call,
  inputs: readonly unknown[],
  wanted: readonly Tensor[],
  numerical: readonly (readonly Matrix[])[],
  tolerances: Tolerances,
): void {
  const { atol, rtol } = tolerances;
  const outputs = call();
  outputs.forEach((output, i) => {
    if (!(output instanceof Tensor)) return;
    const analytical = output.requiresGrad ? analyticalJacobian(output, wanted, tolerances) : null;
    wanted.forEach((input, j) => {
      const expected = numerical[j]?.[i] as Matrix;
      if (analytical === null) {
        if (expected.some((value) => Math.abs(value) > atol)) {
          throw new Mismatch(
            `output ${i} does not require a gradient, but its numerical gradient is not zero.`,
          );
        }
        return;
      }
      const actual = analytical[j] as Matrix;
      if (areClose(actual, expected, atol, rtol)) return;
      const where = `the gradients of output ${i} with respect to input ${inputs.indexOf(input)} differ:`;
      const columns = elementsOf(output);
      throw new Mismatch(
        `${where}\nnumerical:${print(expected, columns)}\nanalytical:${print(actual, columns)}`,
      );
    });
  });
}

// Returns, for each input, the derivatives of `output` with respect to its elements.
function analyticalJacobian(
  output: Tensor,
  inputs: readonly Tensor[],
  tolerances: Tolerances,
): Matrix[] {
  const columns = elementsOf(output);
  const matrices = inputs.map((input) => newMatrix(elementsOf(input) * columns));
  for (let column = 0; column < columns; column++) {
    const weights = () => unitLike(output, column);
    repeatedGradients(output, weights, inputs, tolerances).forEach((values, j) => {
      values.forEach((value, row) => {
        (matrices[j] as Matrix)[row * columns + column] = value;
      });
    });
  }
  return matrices;
}

/** Returns the numbers of gradients that are computed twice; throws if they differ. `weights` makes the output gradient. */
export function repeatedGradients(
  output: Tensor,
  weights: () => Tensor,
  inputs: readonly Tensor[],
  { nondetTol, checkGradDtypes }: Tolerances,
): Matrix[] {
  const [first = [], second = []] = [0, 1].map(() =>
    scope(() => gradientValues(output, weights(), inputs, checkGradDtypes)),
  );
  first.forEach((once, j) => {
    const again = second[j] as Matrix;
    if (once.some((value, k) => !isRepeated(value, again[k] as number, nondetTol))) {
      throw new Mismatch(
        "backward is not deterministic: two backward calls with the same arguments returned different gradients.",
      );
    }
  });
  return first;
}

function isRepeated(value: number, again: number, tolerance: number): boolean {
  return Object.is(value + 0, again + 0) || Math.abs(value - again) <= tolerance;
}

// Returns the numbers of the gradients of `output`, weighted by `gradOutputs`; zeros for an input without one.
function gradientValues(
  output: Tensor,
  gradOutputs: Tensor,
  inputs: readonly Tensor[],
  checkDtypes: boolean,
): Matrix[] {
  const grads = grad(output, inputs, { gradOutputs, retainGraph: true, allowUnused: true });
  return grads.map((grad, j) => {
    const input = inputs[j] as Tensor;
    const expected = input.shape;
    if (grad === null) return new Float64Array(elementsOf(input));
    if (String(grad.shape) !== String(expected)) {
      throw new Mismatch(
        `the gradient of input ${j} has the shape [${grad.shape}], expected [${expected}].`,
      );
    }
    if (checkDtypes && grad.dtype !== input.dtype) {
      throw new Mismatch(`the gradient of input ${j} is ${grad.dtype}, expected ${input.dtype}.`);
    }
    return Float64Array.from(grad.dataSync(), Number);
  });
}

/** Backward is linear, so zero output gradients must produce zero input gradients. */
export function checkZeroGradient(call: Call, inputs: readonly Tensor[]): void {
  const outputs = call().filter(requiresGrad);
  if (outputs.length === 0) return;
  const gradOutputs = outputs.map((output) => zerosLike(output));
  const grads = grad(outputs, inputs, { gradOutputs, allowUnused: true });
  grads.forEach((grad, i) => {
    if (grad === null) return;
    if (!isZero(grad)) {
      throw new Mismatch("backward ignores the output gradient: for zeros its result is not zero.");
    }
    const dtype = inputs[i]?.dtype;
    if (grad.dtype !== dtype) {
      throw new Mismatch(`the gradient of input ${i} is ${grad.dtype}, expected ${dtype}.`);
    }
  });
}

// Returns its input in forward, and no gradient in backward.
class UndefinedGrad extends AutogradFunction {
  static override readonly generateVmapRule = true;

  static override forward(_ctx: FunctionContext, tensor: Tensor): Tensor {
    return tensor;
  }

  static override backward(): null {
    return null;
  }
}

/** A missing output gradient must have the same effect as zeros, both for all outputs together and for each one. */
export function checkUndefinedGradients(call: Call, inputs: readonly Tensor[]): void {
  const count = call().filter(requiresGrad).length;
  const all = Array.from({ length: count }, (_, i) => [i]);
  const choices = count > 1 ? [all.flat(), ...all] : all;
  for (const choice of choices) {
    const outputs = call()
      .filter(requiresGrad)
      .map((output, i) => (choice.includes(i) ? UndefinedGrad.apply(output) : output));
    const gradOutputs = outputs.map((output) => zerosLike(output));
    let grads: (Tensor | null)[];
    try {
      grads = grad(outputs, inputs, { gradOutputs, allowUnused: true });
    } catch (error) {
      throw new Mismatch("backward failed for an output without a gradient (null).", {
        cause: error,
      });
    }
    if (grads.some((grad) => grad !== null && !isZero(grad))) {
      throw new Mismatch(
        "backward returned a gradient that is not zero although the output gradients are null or zero.",
      );
    }
  }
}

/** Gradients for a batch of output gradients must be those for each of them. */
export function checkBatchedGradients(
  call: Call,
  inputs: readonly Tensor[],
  { atol, rtol }: Tolerances,
): void {
  for (const output of call().filter(requiresGrad)) {
    const { shape, dtype, device } = output;
    const each = [0, 1].map(() => randn(shape, { dtype, device }));
    const pull = (gradOutputs: Tensor, isGradsBatched: boolean) =>
      grad(output, inputs, { gradOutputs, isGradsBatched, retainGraph: true, allowUnused: true });
    const together = pull(stack(each), true);
    each.forEach((grad, i) => {
      pull(grad, false).forEach((expected, j) => {
        const actual = together[j];
        if (expected === null || !(actual instanceof Tensor)) return;
        const [a, b] = [actual.at(i), expected].map(valuesOf);
        if (areClose(a as Matrix, b as Matrix, atol, rtol)) return;
        throw new Mismatch(
          `the gradients of input ${j} for a batch of output gradients differ from those for each of them.`,
        );
      });
    });
  }
}

function isZero(tensor: Tensor): boolean {
  return tensor.dataSync().every((value) => Number(value) === 0);
}
