// Checks gradients against finite differences, of first order (gradcheck) and of second order (gradgradcheck).
//
// Both sides are matrices with a row per input element and a column per output element, where a
// complex number counts as two elements. Numerical:
// (f(x + eps) - f(x - eps)) / 2 eps, element by element. Analytical: the gradient of one output
// element at a time, computed twice, or in forward mode the tangents for one input element at a time.

import { readOptions } from "../../arguments/read.js";
import { boolean, number, type Options, unchecked, type Values } from "../../arguments/rule.js";
import { randn, select } from "../../generated/ops.js";
import { EdgeGradError, fail } from "../../runtime/errors/errors.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { grad } from "../grad.js";
import { checkFunction } from "../hooks.js";
import { recording } from "../recording.js";
import { toList } from "../run.js";
import {
  checkBatchedGradients,
  checkJacobians,
  checkUndefinedGradients,
  checkZeroGradient,
} from "./backward.js";
import { checkFast } from "./fast.js";
import { checkForwardJacobians, checkUndefinedTangents } from "./forward.js";
import { Mismatch, requiresGrad } from "./matrices.js";
import { numericalJacobian } from "./numerical_jacobian.js";
import { isTrackedSparse, ofValues } from "./sparse.js";

const kShared = {
  /** The step of the finite differences; default 1e-6. */
  eps: number.or(1e-6),
  /** The absolute tolerance; default 1e-5. */
  atol: number.or(1e-5),
  /** The relative tolerance; default 1e-3. */
  rtol: number.or(1e-3),
  /** Whether to throw an error that shows the wrong values, instead of returning false; default true. */
  raiseException: boolean.or(true),
  /** How much two backward calls with the same arguments may differ; default 0. */
  nondetTol: number.or(0),
  /** Whether to check that missing output gradients and tangents have the effect of zeros; default true. */
  checkUndefinedGrad: boolean.or(true),
  /** Whether to check that gradients have the dtypes of their inputs; default false. */
  checkGradDtypes: boolean.or(false),
  /** Whether to check batches of output gradients (`isGradsBatched`); default false. */
  checkBatchedGrad: boolean.or(false),
  /** Whether to compare products with random vectors instead of whole matrices; default false. */
  fastMode: boolean.or(false),
};

const kOptions = {
  ...kShared,
  /** Whether to check tangents in forward mode; default false. */
  checkForwardAd: boolean.or(false),
  /** Whether to check gradients in reverse mode; default true. */
  checkBackwardAd: boolean.or(true),
};

const kSecondOrderOptions = {
  ...kShared,
  /** Whether to check gradients of gradients; default true. */
  checkRevOverRev: boolean.or(true),
  /** Whether to check tangents of gradients; default false. */
  checkFwdOverRev: boolean.or(false),
  /** Whether the random gradients of the outputs are not contiguous; default false. */
  genNonContigGradOutputs: boolean.or(false),
  /** The gradients of the outputs, which are also differentiated with respect to; random by default. */
  gradOutputs: unchecked<Tensor | readonly Tensor[]>().orNull(),
};

/** Options of `gradcheck`. */
export type GradcheckOptions = Options<typeof kOptions & typeof kShared>;

/** Options of `gradgradcheck`. */
export type GradgradcheckOptions = Options<typeof kSecondOrderOptions & typeof kShared>;

type Settings = Values<typeof kOptions>;

/** A function to check, which is called with the inputs as separate arguments. */
export type CheckedFunction = (...inputs: Tensor[]) => unknown;

/**
 * Checks the gradients of `fn` with respect to the inputs that require a gradient, which should be float64 or complex128. Of a sparse input
 * only the stored values are variables.
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
  checkModes(options);
  const args = toList(inputs);
  if (args.some(isTrackedSparse)) {
    const of = ofValues(fn, args);
    return gradcheck(of.fn, of.inputs, options);
  }
  const wanted = checkInputs(args);
  return report(options, () => {
    const callWith = (all: readonly unknown[]) =>
      toList(fn(...(all as Tensor[])) as Tensor | readonly Tensor[]);
    const call = () => callWith(args);
    const checkAll = () => {
      const { checkForwardAd: forward, checkBackwardAd: backward } = options;
      if (options.fastMode) {
        checkFast({ call, callWith }, args, wanted, { forward, backward }, options);
      } else {
        const numerical = wanted.map((input) => numericalJacobian(call, input, options.eps));
        if (backward) checkJacobians(call, args, wanted, numerical, options);
        if (forward) checkForwardJacobians(callWith, args, wanted, numerical, options);
      }
      if (forward && options.checkUndefinedGrad) checkUndefinedTangents(callWith, args, wanted);
      if (!backward) return;
      if (options.checkBatchedGrad) checkBatchedGradients(call, wanted, options);
      checkZeroGradient(call, wanted);
      if (options.checkUndefinedGrad) checkUndefinedGradients(call, wanted);
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
  const {
    gradOutputs: given,
    genNonContigGradOutputs,
    checkRevOverRev: checkBackwardAd,
    checkFwdOverRev: checkForwardAd,
    ...options
  } = readOptions("gradgradcheck", kSecondOrderOptions, rest);
  const args = toList(inputs);
  if (args.some(isTrackedSparse)) {
    const of = ofValues(fn, args);
    return gradgradcheck(of.fn, of.inputs, ...rest);
  }
  checkInputs(args);
  const check = () => {
    const gradOutputs =
      given === null
        ? differentiable(fn(...args)).map((output) => randomLike(output, genNonContigGradOutputs))
        : toList(given);
    const gradient = (...all: Tensor[]) => {
      // In forward mode, the inputs are passed without what they require.
      const current = all
        .slice(0, args.length)
        .map((value, i) => (requiresGrad(args[i]) ? value.requiresGrad_() : value));
      return grad(differentiable(fn(...current)), current.filter(requiresGrad), {
        gradOutputs: all.slice(args.length),
        createGraph: true,
        allowUnused: true,
      }).filter((grad) => grad !== null);
    };
    return gradcheck(gradient, [...args, ...gradOutputs], {
      ...options,
      checkBackwardAd,
      checkForwardAd,
    });
  };
  return recording(() => scope(check));
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

function differentiable(outputs: unknown): Tensor[] {
  return toList(outputs).filter(requiresGrad);
}

function randomLike({ shape, dtype, device }: Tensor, isStrided: boolean): Tensor {
  if (!isStrided) return randn(shape, { dtype, device, requiresGrad: true });
  return select(randn([...shape, 2], { dtype, device }), -1, 0)
    .detach()
    .requiresGrad_();
}

function checkModes({ checkForwardAd, checkBackwardAd, checkBatchedGrad }: Settings): void {
  if (!checkForwardAd && !checkBackwardAd) {
    fail("InvalidArgument", "gradcheck", "checkForwardAd or checkBackwardAd must be true.");
  }
  if (checkBatchedGrad && !checkBackwardAd) {
    fail("InvalidArgument", "gradcheck", "checkBatchedGrad needs checkBackwardAd.");
  }
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
