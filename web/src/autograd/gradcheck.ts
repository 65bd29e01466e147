// Gradients checked against differences: the test of a function's backward, and of its backward's.
//
// Both sides are matrices with a row per input element and a column per output element, where a
// complex number counts as two: its parts. Numerical:
// (f(x + eps) - f(x - eps)) / 2 eps, element by element. Analytical: the gradient of one output
// element at a time, taken twice, which must agree to the last bit.

import { readOptions } from "../arguments/read.js";
import { boolean, number, type Options, unchecked, type Values } from "../arguments/rule.js";
import { randn, zerosLike } from "../generated/ops.js";
import { fromElements } from "../ops/create.js";
import { EdgeGradError, fail } from "../runtime/errors.js";
import { newArray, partsOf } from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { Function as AutogradFunction, type FunctionContext } from "./function.js";
import { grad } from "./grad.js";
import { checkFunction } from "./hooks.js";
import { type Matrix, newMatrix, numericalJacobian } from "./numerical_jacobian.js";
import { recording } from "./recording.js";
import { toList } from "./run.js";

const kOptions = {
  /** Step of the differences; default 1e-6. */
  eps: number.or(1e-6),
  /** Absolute tolerance; default 1e-5. */
  atol: number.or(1e-5),
  /** Relative tolerance; default 1e-3. */
  rtol: number.or(1e-3),
  /** Throw what is wrong with a gradient, in numbers, instead of returning false; default false. */
  raiseException: boolean.or(false),
};

const kSecondOrderOptions = {
  ...kOptions,
  /** Gradients of the outputs, to differentiate by as well; random by default. */
  gradOutputs: unchecked<Tensor | readonly Tensor[]>().orNull(),
};

/** Options of `gradcheck`. */
export type GradcheckOptions = Options<typeof kOptions>;

/** Options of `gradgradcheck`. */
export type GradgradcheckOptions = Options<typeof kSecondOrderOptions>;

type Settings = Values<typeof kOptions>;

/** A function to check: called with the inputs as separate arguments. */
export type CheckedFunction = (...inputs: Tensor[]) => unknown;

/**
 * Checks the gradients of `fn` with respect to the inputs that require one, which should be float64 or complex128.
 * Returns whether they are right; with `raiseException` a wrong gradient is an error that shows both values.
 */
export function gradcheck(
  fn: CheckedFunction,
  inputs: Tensor | readonly Tensor[],
  ...rest: [options?: GradcheckOptions]
): boolean {
  checkFunction("gradcheck", fn);
  const options = readOptions("gradcheck", kOptions, rest);
  const args = toList(inputs);
  const wanted = checkInputs(args);
  return report(options, () => {
    const call = () => toList(fn(...args) as Tensor | readonly Tensor[]);
    const checkAll = () => {
      checkJacobians(call, args, wanted, options);
      checkZeroGradient(call, wanted);
      checkUndefinedGradients(call, wanted);
    };
    recording(() => scope(checkAll));
  });
}

/** Like gradcheck(), for the gradients of the gradients of `fn`. */
export function gradgradcheck(
  fn: CheckedFunction,
  inputs: Tensor | readonly Tensor[],
  ...rest: [options?: GradgradcheckOptions]
): boolean {
  checkFunction("gradgradcheck", fn);
  const { gradOutputs: given, ...options } = readOptions(
    "gradgradcheck",
    kSecondOrderOptions,
    rest,
  );
  const args = toList(inputs);
  checkInputs(args);
  const check = () => {
    const gradOutputs =
      given === null ? differentiable(fn(...args)).map(randomLike) : toList(given);
    const gradient = (...all: Tensor[]) => {
      const current = all.slice(0, args.length);
      return grad(differentiable(fn(...current)), current.filter(requiresGrad), {
        gradOutputs: all.slice(args.length),
        createGraph: true,
        allowUnused: true,
      }).filter((one) => one !== null);
    };
    return gradcheck(gradient, [...args, ...gradOutputs], options);
  };
  return recording(() => scope(check));
}

// Not an error of the caller's: what is false unless `raiseException` says to throw it.
class Mismatch extends EdgeGradError {
  constructor(message: string, options?: ErrorOptions) {
    super("InvalidGradient", message, options);
  }
}

function report({ raiseException }: Settings, check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    const isMismatch = EdgeGradError.isOne(error) && error instanceof Mismatch;
    if (isMismatch && !raiseException) return false;
    throw error;
  }
}

function requiresGrad(tensor: unknown): tensor is Tensor {
  return tensor instanceof Tensor && tensor.requiresGrad;
}

function differentiable(outputs: unknown): Tensor[] {
  return toList(outputs).filter(requiresGrad);
}

function randomLike({ shape, dtype, device }: Tensor): Tensor {
  return randn(shape, { dtype, device, requiresGrad: true });
}

// Returns the inputs that require a gradient.
function checkInputs(inputs: readonly unknown[]): Tensor[] {
  const wanted = inputs.filter(requiresGrad);
  inputs.forEach((input, i) => {
    if (!requiresGrad(input)) return;
    const { dtype, shape, strides } = input;
    if (dtype !== "float64" && dtype !== "complex128") {
      console.warn(
        `edgegrad: input #${i} of gradcheck requires gradient and is not a double precision floating point or complex. ` +
          "This check will likely fail if all the inputs are not of double precision floating point or complex.",
      );
    }
    if (shape.some((size, dim) => size > 1 && strides[dim] === 0)) {
      fail(
        "InvalidArgument",
        "gradcheck",
        `The ${i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to ` +
          "be able to compute the numerical gradients correctly. You should call .contiguous on the input before " +
          "passing it to gradcheck.",
      );
    }
  });
  if (wanted.length === 0) {
    fail(
      "InvalidArgument",
      "gradcheck",
      "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.",
    );
  }
  return wanted;
}

function checkJacobians(
  call: () => readonly Tensor[],
  inputs: readonly Tensor[],
  wanted: readonly Tensor[],
  { eps, atol, rtol }: Settings,
): void {
  const numerical = wanted.map((input) => numericalJacobian(call, input, eps));
  const outputs = call();
  outputs.forEach((output, i) => {
    if (!(output instanceof Tensor)) return;
    const analytical = output.requiresGrad ? analyticalJacobian(output, wanted) : null;
    wanted.forEach((input, j) => {
      const expected = numerical[j]?.[i] as Matrix;
      if (analytical === null) {
        if (expected.some((value) => Math.abs(value) > atol)) {
          throw new Mismatch("Numerical gradient for function expected to be zero");
        }
        return;
      }
      const actual = analytical[j] as Matrix;
      if (areClose(actual, expected, atol, rtol)) return;
      const where = `Jacobian mismatch for output ${i} with respect to input ${inputs.indexOf(input)},`;
      const columns = elementsOf(output);
      throw new Mismatch(
        `${where}\nnumerical:${print(expected, columns)}\nanalytical:${print(actual, columns)}`,
      );
    });
  });
}

// For each input, the derivatives of `output` by its elements.
function analyticalJacobian(output: Tensor, inputs: readonly Tensor[]): Matrix[] {
  const columns = elementsOf(output);
  const matrices = inputs.map((input) => newMatrix(elementsOf(input) * columns));
  for (let column = 0; column < columns; column++) {
    const [first, second] = [0, 1].map(() => scope(() => oneGradient(output, column, inputs)));
    inputs.forEach((_, j) => {
      const [once, again] = [first?.[j] as Matrix, second?.[j] as Matrix];
      if (once.some((value, k) => !Object.is(value + 0, (again[k] as number) + 0))) {
        throw new Mismatch(
          "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives " +
            "different values, although analytical gradient matches numerical gradient.",
        );
      }
      once.forEach((value, row) => {
        (matrices[j] as Matrix)[row * columns + column] = value;
      });
    });
  }
  return matrices;
}

function oneGradient(output: Tensor, element: number, inputs: readonly Tensor[]): Matrix[] {
  const { dtype, shape, numel, device } = output;
  const elements = newArray(dtype, numel, "gradcheck") as Float64Array;
  elements[element] = 1;
  const gradOutputs = fromElements(dtype, shape, elements).to(device);
  const grads = grad(output, inputs, { gradOutputs, retainGraph: true, allowUnused: true });
  return grads.map((one, j) => {
    const input = inputs[j] as Tensor;
    const expected = input.shape;
    if (one === null) return new Float64Array(elementsOf(input));
    if (String(one.shape) !== String(expected)) {
      throw new Mismatch("Analytical gradient has incorrect size");
    }
    return Float64Array.from(one.dataSync(), Number);
  });
}

// How many real numbers a tensor holds.
function elementsOf({ dtype, numel }: Tensor): number {
  return numel * partsOf(dtype);
}

// A backward is linear: no gradient in, no gradient out.
function checkZeroGradient(call: () => readonly unknown[], inputs: readonly Tensor[]): void {
  const outputs = call().filter(requiresGrad);
  if (outputs.length === 0) return;
  const gradOutputs = outputs.map((output) => zerosLike(output));
  const grads = grad(outputs, inputs, { gradOutputs, allowUnused: true });
  grads.forEach((one, i) => {
    if (one === null) return;
    if (!isZero(one)) throw new Mismatch("backward not multiplied by grad_output");
    if (one.dtype !== inputs[i]?.dtype) throw new Mismatch("grad is incorrect type");
  });
}

// Passes a tensor on, but no gradient back.
class UndefinedGrad extends AutogradFunction {
  static override forward(_ctx: FunctionContext, tensor: Tensor): Tensor {
    return tensor;
  }

  static override backward(): null {
    return null;
  }
}

// No gradient at all is the same as a gradient of zero, for all outputs and for each.
function checkUndefinedGradients(call: () => readonly unknown[], inputs: readonly Tensor[]): void {
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
      throw new Mismatch("Expected backward function to handle undefined output grads.", {
        cause: error,
      });
    }
    if (grads.some((one) => one !== null && !isZero(one))) {
      throw new Mismatch(
        "Expected all input grads to be undefined or zero when all output grads are undefined or zero.",
      );
    }
  }
}

function isZero(tensor: Tensor): boolean {
  return tensor.dataSync().every((value) => Number(value) === 0);
}

function areClose(actual: Matrix, expected: Matrix, atol: number, rtol: number): boolean {
  return actual.every((value, k) => {
    const wanted = expected[k] as number;
    return value === wanted || Math.abs(value - wanted) <= atol + rtol * Math.abs(wanted);
  });
}

function print(matrix: Matrix, columns: number): string {
  const shape = [columns === 0 ? 0 : matrix.length / columns, columns];
  return String(fromElements("float64", shape, matrix));
}
