// Checks gradients against finite differences, of first order (gradcheck) and of second order (gradgradcheck).
//
// Both sides are matrices with a row per input element and a column per output element, where a
// complex number counts as two elements. Numerical:
// (f(x + eps) - f(x - eps)) / 2 eps, element by element. Analytical: the gradient of one output
// element at a time, computed twice; both results must agree bit for bit.

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
  /** The step of the finite differences; default 1e-6. */
  eps: number.or(1e-6),
  /** The absolute tolerance; default 1e-5. */
  atol: number.or(1e-5),
  /** The relative tolerance; default 1e-3. */
  rtol: number.or(1e-3),
  /** Whether to throw an error that shows the wrong values, instead of returning false; default true. */
  raiseException: boolean.or(true),
};

const kSecondOrderOptions = {
  ...kOptions,
  /** The gradients of the outputs, which are also differentiated with respect to; random by default. */
  gradOutputs: unchecked<Tensor | readonly Tensor[]>().orNull(),
};

/** Options of `gradcheck`. */
export type GradcheckOptions = Options<typeof kOptions>;

/** Options of `gradgradcheck`. */
export type GradgradcheckOptions = Options<typeof kSecondOrderOptions>;

type Settings = Values<typeof kOptions>;

/** A function to check, which is called with the inputs as separate arguments. */
export type CheckedFunction = (...inputs: Tensor[]) => unknown;

/**
 * Checks the gradients of `fn` with respect to the inputs that require a gradient, which should be float64 or complex128.
 * Returns true if the gradients are correct and throws `InvalidGradient` with both values if not; with `raiseException: false`,
 * returns false.
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

/** Like gradcheck(), but checks the second derivatives of `fn`. */
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

// A wrong gradient. With `raiseException: false` it makes the check return false; other errors are always thrown.
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
        `edgegrad: input ${i} of gradcheck is ${dtype}. Its precision is too low for finite differences, so the check ` +
          "will probably fail. Use float64 or complex128.",
      );
    }
    if (shape.some((size, dim) => size > 1 && strides[dim] === 0)) {
      fail(
        "InvalidArgument",
        "gradcheck",
        `input ${i} has a dimension with stride 0, so its elements cannot be changed one at a time. Pass ` +
          "x.contiguous() instead.",
      );
    }
  });
  if (wanted.length === 0) {
    fail(
      "InvalidArgument",
      "gradcheck",
      "no input requires a gradient: set requiresGrad for at least one.",
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
function analyticalJacobian(output: Tensor, inputs: readonly Tensor[]): Matrix[] {
  const columns = elementsOf(output);
  const matrices = inputs.map((input) => newMatrix(elementsOf(input) * columns));
  for (let column = 0; column < columns; column++) {
    const [first, second] = [0, 1].map(() => scope(() => oneGradient(output, column, inputs)));
    inputs.forEach((_, j) => {
      const [once, again] = [first?.[j] as Matrix, second?.[j] as Matrix];
      if (once.some((value, k) => !Object.is(value + 0, (again[k] as number) + 0))) {
        throw new Mismatch(
          "backward is not deterministic: two backward calls with the same arguments returned different gradients.",
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
      throw new Mismatch(
        `the gradient of input ${j} has the shape [${one.shape}], expected [${expected}].`,
      );
    }
    return Float64Array.from(one.dataSync(), Number);
  });
}

// Returns the number of real numbers in a tensor.
function elementsOf({ dtype, numel }: Tensor): number {
  return numel * partsOf(dtype);
}

// Backward is linear, so zero output gradients must produce zero input gradients.
function checkZeroGradient(call: () => readonly unknown[], inputs: readonly Tensor[]): void {
  const outputs = call().filter(requiresGrad);
  if (outputs.length === 0) return;
  const gradOutputs = outputs.map((output) => zerosLike(output));
  const grads = grad(outputs, inputs, { gradOutputs, allowUnused: true });
  grads.forEach((one, i) => {
    if (one === null) return;
    if (!isZero(one)) {
      throw new Mismatch("backward ignores the output gradient: for zeros its result is not zero.");
    }
    const dtype = inputs[i]?.dtype;
    if (one.dtype !== dtype) {
      throw new Mismatch(`the gradient of input ${i} is ${one.dtype}, expected ${dtype}.`);
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

// A missing output gradient must have the same effect as zeros, both for all outputs together and for each one.
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
      throw new Mismatch("backward failed for an output without a gradient (null).", {
        cause: error,
      });
    }
    if (grads.some((one) => one !== null && !isZero(one))) {
      throw new Mismatch(
        "backward returned a gradient that is not zero although the output gradients are null or zero.",
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
