// What the functional products share: one tensor or a list, fresh inputs, strict mode, missing
// gradients.

import { readArguments } from "../../arguments/read.js";
import { boolean, functionOf, type Options, unchecked, type Values } from "../../arguments/rule.js";
import { viewAs, zerosLike } from "../../generated/ops.js";
import { describe, fail } from "../../runtime/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { grad } from "../grad.js";
import { freshLeaf } from "../recording.js";

/** One tensor, or a list of them. */
export type Tensors = Tensor | readonly Tensor[];

/** A result per tensor of `T`: a tensor for one, a list for a list. */
export type PerTensor<T extends Tensors> = T extends Tensor ? Tensor : Tensor[];

/** A differentiable function: called with the inputs as separate arguments. */
export type Differentiable<Output extends Tensors = Tensors> = (...inputs: Tensor[]) => Output;

/** What all functions of `functional` take. */
export const kFunctionalOptions = {
  /** Make the results differentiable themselves. */
  createGraph: boolean.or(false),
  /** Fail where a result does not depend on an input, instead of returning zeros. */
  strict: boolean.or(false),
};

/** Options of the functions of `functional`. */
export type FunctionalOptions = Options<typeof kFunctionalOptions>;

/** FunctionalOptions with defaults filled in, and whose they are, for errors. */
export type Settings = Values<typeof kFunctionalOptions> & { readonly where: string };

const kMatrixArguments = {
  fn: functionOf<Differentiable>(),
  inputs: unchecked<Tensors>(),
  ...kFunctionalOptions,
};

const kProductArguments = {
  fn: functionOf<Differentiable>(),
  inputs: unchecked<Tensors>(),
  /** The vector; none for a function of one element. */
  v: unchecked<Tensors>().orNull(),
  ...kFunctionalOptions,
};

/** What follows the inputs of a product: the vector, by position or among the options. */
export type ProductArguments =
  | [v?: Tensors | null, options?: FunctionalOptions]
  | [options: FunctionalOptions & { v?: Tensors | null }];

/** Returns the options of a whole matrix. */
export function readMatrixCall(where: string, given: readonly unknown[]): Settings {
  const { createGraph, strict } = readArguments(where, kMatrixArguments, given);
  return { where, createGraph, strict };
}

/** Returns the vector and the options of a product. */
export function readProductCall(
  where: string,
  given: readonly unknown[],
): { v: Tensors | null; settings: Settings } {
  const { v, createGraph, strict } = readArguments(where, kProductArguments, given);
  return { v, settings: { where, createGraph, strict } };
}

/** A list of tensors that remembers whether it was given as a list. */
export class TensorGroup {
  constructor(
    readonly tensors: readonly Tensor[],
    readonly isList: boolean,
  ) {}

  /** Reads an argument or result of a function; `what` and `where` are for its error. */
  static of(value: unknown, what: string, where: string): TensorGroup {
    const isList = Array.isArray(value);
    const tensors: readonly unknown[] = isList ? value : [value];
    const wrong = tensors.findIndex((one) => !(one instanceof Tensor));
    if (wrong >= 0) {
      const prefix = isList ? `Value at index ${wrong} of the ` : "";
      fail(
        "InvalidArgument",
        where,
        `The ${what} given to ${where} must be either a Tensor or a tuple of Tensors but ${prefix}given ` +
          `${what} has type ${describe(tensors[wrong])}.`,
      );
    }
    return new TensorGroup(tensors as readonly Tensor[], isList);
  }

  /** Returns what the caller gets: a tensor where a tensor was given. */
  unwrap<T>(results: readonly T[]): T | T[] {
    return this.isList ? [...results] : (results[0] as T);
  }
}

/** Returns tensors to differentiate by: views of those whose graph goes on with `createGraph`, leaves in place of others. */
export function freshInputs({ tensors }: TensorGroup, createGraph: boolean): Tensor[] {
  return tensors.map((tensor) => {
    return createGraph && tensor.requiresGrad ? viewAs(tensor, tensor) : freshLeaf(tensor);
  });
}

/** Returns the vector of a product, outside of any graph unless `createGraph`. */
export function freshVector({ tensors }: TensorGroup, createGraph: boolean): Tensor[] {
  return tensors.map((tensor) => (createGraph ? viewAs(tensor, tensor) : tensor.detach()));
}

/** Returns results as the caller gets them: detached unless `createGraph`. */
export function finished(tensors: readonly Tensor[], createGraph: boolean): Tensor[] {
  return tensors.map((tensor) => (createGraph ? tensor : tensor.detach()));
}

/** Throws unless `v` has the shapes of `other`. */
export function checkVector(where: string, v: TensorGroup, other: TensorGroup): void {
  if (v.tensors.length !== other.tensors.length) {
    fail(
      "InvalidArgument",
      where,
      other.isList
        ? `v is a tuple of invalid length: should be ${other.tensors.length} but got ${v.tensors.length}.`
        : "The given v should contain a single Tensor.",
    );
  }
  other.tensors.forEach((one, i) => {
    const [expected, got] = [one.shape, (v.tensors[i] as Tensor).shape].map((shape) =>
      shape.join(", "),
    );
    if (expected === got) return;
    const prefix = other.isList ? `Entry ${i} in ` : "";
    fail(
      "ShapeMismatch",
      where,
      `${prefix}v has invalid size: should be [${expected}] but got [${got}].`,
    );
  });
}

const kIndependent = {
  outputs: (i: number) =>
    `Output ${i} of the user-provided function does not require gradients. The outputs must be computed in a ` +
    "differentiable manner from the input when running in strict mode.",
  gradInputs: (i: number) =>
    `The gradient with respect to input ${i} is independent of the inputs of the user-provided function. This is not ` +
    "allowed in strict mode.",
  jacobian: (i: number) =>
    `While computing the hessian, found that the jacobian of the user-provided function with respect to input ${i} is ` +
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice " +
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example).",
  hessian: (i: number) =>
    `The hessian of the user-provided function with respect to input ${i} is independent of the input. This is not ` +
    "allowed in strict mode. You should ensure that your function is thrice differentiable and that the hessian depends " +
    "on the inputs.",
};

/** In strict mode, throws unless every tensor can be differentiated further. */
export function checkRequiresGrad(
  tensors: readonly (Tensor | null)[],
  what: keyof typeof kIndependent,
  { strict, where }: Settings,
): void {
  if (!strict) return;
  tensors.forEach((tensor, i) => {
    if (tensor === null) fail("NoGradPath", where, independentOf(i));
    if (!tensor.requiresGrad) fail("NoGradPath", where, kIndependent[what](i));
  });
}

function independentOf(i: number): string {
  return `The output of the user-provided function is independent of input ${i}. This is not allowed in strict mode.`;
}

/** Like grad() with allowUnused, for outputs of which some, or all, may depend on nothing. */
export function gradOf(
  outputs: readonly (Tensor | null)[],
  inputs: readonly Tensor[],
  gradOutputs: readonly (Tensor | null)[] | null,
  options: { createGraph?: boolean; retainGraph?: boolean },
): (Tensor | null)[] {
  const roots: Tensor[] = [];
  const weights: (Tensor | null)[] = [];
  outputs.forEach((output, i) => {
    if (output === null || !output.requiresGrad) return;
    roots.push(output);
    weights.push(gradOutputs?.[i] ?? null);
  });
  if (roots.length === 0) return inputs.map(() => null);
  return grad(roots, inputs, { ...options, gradOutputs: weights, allowUnused: true });
}

// What fillInZeros() says about a missing gradient, by the computation it is missing from.
const kMissing = {
  backward: independentOf,
  doubleBackwardTrick: (i: number) =>
    `The gradient with respect to the input is independent of entry ${i} in the grad_outputs when using the double ` +
    "backward trick to compute forward mode gradients. This is not allowed in strict mode.",
  doubleBackward: (i: number) =>
    `The jacobian of the user-provided function is independent of input ${i}. This is not allowed in strict mode.`,
  hessianTrick: (i: number) =>
    `The hessian of the user-provided function is independent of entry ${i} in the grad_jacobian. This is not allowed ` +
    "in strict mode as it prevents from using the double backward trick to replace forward mode AD.",
};

/** Replaces missing gradients by zeros like `refs`; in strict mode they are errors. */
export function fillInZeros(
  grads: readonly (Tensor | null)[],
  refs: readonly Tensor[],
  stage: keyof typeof kMissing,
  { strict, createGraph, where }: Settings,
): Tensor[] {
  return grads.map((gradient, i) => {
    if (gradient === null) {
      if (strict) fail("NoGradPath", where, kMissing[stage](i));
      return zerosLike(refs[i] as Tensor);
    }
    if (strict && createGraph && !gradient.requiresGrad) {
      const what = stage === "backward" || stage === "doubleBackwardTrick" ? "jacobian" : "hessian";
      fail(
        "NoGradPath",
        where,
        `The ${what} of the user-provided function is independent of input ${i}. This is not allowed in strict mode when ` +
          "create_graph=True.",
      );
    }
    return gradient;
  });
}
