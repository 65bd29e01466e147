// Shared code of eg.autograd.functional: one tensor or an array of them, fresh inputs, strict mode and
// missing gradients.

import { readArguments } from "../../arguments/read.js";
import {
  boolean,
  functionOf,
  type Options,
  oneOf,
  unchecked,
  type Values,
} from "../../arguments/rule.js";
import { viewAs, zerosLike } from "../../generated/ops.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { grad } from "../grad.js";
import { freshLeaf } from "../recording.js";

/** One tensor or an array of tensors. */
export type Tensors = Tensor | readonly Tensor[];

/** A result per tensor of `T`: a tensor for a tensor, an array for an array. */
export type PerTensor<T extends Tensors> = T extends Tensor ? Tensor : Tensor[];

/** A differentiable function, which is called with the inputs as separate arguments. */
export type Differentiable<Output extends Tensors = Tensors> = (...inputs: Tensor[]) => Output;

/** The options of all functions of `functional`. */
export const kFunctionalOptions = {
  /** Whether the results can themselves be differentiated; default false. */
  createGraph: boolean.or(false),
  /** Whether to throw if a result does not depend on an input, instead of returning zeros; default false. */
  strict: boolean.or(false),
};

/** Options of the functions of `functional`. */
export type FunctionalOptions = Options<typeof kFunctionalOptions>;

/** FunctionalOptions with defaults filled in, and the name of the called function for errors. */
export type Settings = Values<typeof kFunctionalOptions> & { readonly where: string };

const kVectorized = {
  ...kFunctionalOptions,
  /** Whether to compute all rows, or columns, in one call; not with `strict`. Default false. */
  vectorize: boolean.or(false),
};

const kModes = oneOf("reverse-mode", "forward-mode").or("reverse-mode");

const kJacobianOptions = {
  ...kVectorized,
  /** Whether to compute columns in forward mode instead of rows in reverse mode; needs `vectorize`, and not `createGraph`. */
  strategy: kModes,
};

const kHessianOptions = {
  ...kVectorized,
  /** How the Jacobian of the gradient is computed, as `strategy` of `jacobian`. */
  outerJacobianStrategy: kModes,
};

/** Options of `functional.jacobian`. */
export type JacobianOptions = Options<typeof kJacobianOptions & typeof kFunctionalOptions>;

/** Options of `functional.hessian`. */
export type HessianOptions = Options<typeof kHessianOptions & typeof kFunctionalOptions>;

const kMatrixArguments = { fn: functionOf<Differentiable>(), inputs: unchecked<Tensors>() };

const kProductArguments = {
  fn: functionOf<Differentiable>(),
  inputs: unchecked<Tensors>(),
  /** The vector; may be null where it would have a single element. */
  v: unchecked<Tensors>().orNull(),
  ...kFunctionalOptions,
};

/** The arguments after the inputs of a product: the vector, by position or among the options. */
export type ProductArguments =
  | [v?: Tensors | null, options?: FunctionalOptions]
  | [options: FunctionalOptions & { v?: Tensors | null }];

/** The settings of jacobian() or hessian(). */
export type MatrixSettings = Settings & {
  readonly vectorize: boolean;
  readonly strategy: "reverse-mode" | "forward-mode";
};

/** Returns the settings of jacobian(). */
export function readJacobianCall(given: readonly unknown[]): MatrixSettings {
  const where = "jacobian";
  const { createGraph, strict, vectorize, strategy } = readArguments(
    where,
    { ...kMatrixArguments, ...kJacobianOptions },
    given,
  );
  return checkedSettings({ where, createGraph, strict, vectorize, strategy });
}

/** Returns the settings of hessian(). */
export function readHessianCall(given: readonly unknown[]): MatrixSettings {
  const where = "hessian";
  const { createGraph, strict, vectorize, outerJacobianStrategy } = readArguments(
    where,
    { ...kMatrixArguments, ...kHessianOptions },
    given,
  );
  const strategy = outerJacobianStrategy;
  return checkedSettings({ where, createGraph, strict, vectorize, strategy });
}

function checkedSettings(settings: MatrixSettings): MatrixSettings {
  const { where, strategy, vectorize, strict, createGraph } = settings;
  const refuse = (reason: string) => fail("InvalidArgument", where, reason);
  if (strict && vectorize) refuse("strict and vectorize cannot be combined.");
  if (strategy === "reverse-mode") return settings;
  if (!vectorize) refuse('"forward-mode" needs vectorize: true.');
  if (createGraph) refuse('"forward-mode" cannot be combined with createGraph.');
  return settings;
}

/** Returns the vector and the options of vjp(), jvp(), vhp() or hvp(). */
export function readProductCall(
  where: string,
  given: readonly unknown[],
): { v: Tensors | null; settings: Settings } {
  const { v, createGraph, strict } = readArguments(where, kProductArguments, given);
  return { v, settings: { where, createGraph, strict } };
}

/** A list of tensors, with the information whether it was passed as an array or as a single tensor. */
export class TensorGroup {
  constructor(
    readonly tensors: readonly Tensor[],
    readonly isList: boolean,
  ) {}

  /** Reads an argument or result of a function; `what` and `where` are for its error. */
  static of(value: unknown, what: string, where: string): TensorGroup {
    const isList = Array.isArray(value);
    const tensors: readonly unknown[] = isList ? value : [value];
    const wrong = tensors.findIndex((tensor) => !(tensor instanceof Tensor));
    if (wrong >= 0) {
      const at = isList ? ` at index ${wrong}` : "";
      const message = `the ${what} must be a tensor or an array of tensors, got ${describe(tensors[wrong])}${at}.`;
      fail("InvalidArgument", where, message);
    }
    return new TensorGroup(tensors as readonly Tensor[], isList);
  }

  /** Returns results in the form of the group: a single one for a tensor, an array for an array. */
  unwrap<T>(results: readonly T[]): T | T[] {
    return this.isList ? [...results] : (results[0] as T);
  }
}

/**
 * Returns tensors to differentiate with respect to: with `createGraph`, views of tensors that require a gradient, which stay
 * connected to their graph; new leaves for all others.
 */
export function freshInputs({ tensors }: TensorGroup, createGraph: boolean): Tensor[] {
  return tensors.map((tensor) => {
    return createGraph && tensor.requiresGrad ? viewAs(tensor, tensor) : freshLeaf(tensor);
  });
}

/** Returns the vector of a product, detached unless `createGraph`. */
export function freshVector({ tensors }: TensorGroup, createGraph: boolean): Tensor[] {
  return tensors.map((tensor) => (createGraph ? viewAs(tensor, tensor) : tensor.detach()));
}

/** Returns the results for the caller, detached unless `createGraph`. */
export function finished(tensors: readonly Tensor[], createGraph: boolean): Tensor[] {
  return tensors.map((tensor) => (createGraph ? tensor : tensor.detach()));
}

/** Throws unless the tensors of `v` have the same shapes as those of `other`. */
export function checkVector(where: string, v: TensorGroup, other: TensorGroup): void {
  if (v.tensors.length !== other.tensors.length) {
    fail(
      "InvalidArgument",
      where,
      `v: expected ${other.isList ? `${other.tensors.length} tensors` : "a single tensor"}, got ${v.tensors.length}.`,
    );
  }
  other.tensors.forEach((tensor, i) => {
    const [expected, got] = [tensor.shape, (v.tensors[i] as Tensor).shape].map((shape) =>
      shape.join(", "),
    );
    if (expected === got) return;
    const name = other.isList ? `v[${i}]` : "v";
    fail("ShapeMismatch", where, `${name}: expected the shape [${expected}], got [${got}].`);
  });
}

/** The tensors of user functions, as messages call them. */
export const kOutputs = "outputs of fn";

/** Returns the message for a result that does not depend on an input in strict mode. */
export function strictMessage(what: string, input: string, also?: string): string {
  const mode = also === undefined ? "strict: true" : `strict: true and ${also}`;
  return `${what} does not depend on ${input}, which ${mode} does not allow.`;
}

const kIndependent = {
  outputs: (i: number) =>
    `output ${i} of fn does not require a gradient. With strict: true, fn must compute every output from the inputs by ` +
    "differentiable operations.",
  gradInputs: (i: number) => strictMessage(`the gradient for input ${i}`, "the inputs of fn"),
  jacobian: (i: number) =>
    strictMessage(`the Jacobian of fn for input ${i}`, "the input") +
    " fn must be twice differentiable and not linear in its inputs.",
  hessian: (i: number) =>
    strictMessage(`the Hessian of fn for input ${i}`, "the input") +
    " fn must have a third derivative that is not zero everywhere.",
};

/** In strict mode, throws unless every tensor can be differentiated again. */
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
  return strictMessage("the output of fn", `input ${i}`);
}

/** Like grad() with allowUnused, but some or all of the outputs may be null or not require a gradient. */
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

// The message of fillInZeros() about a missing gradient, by the computation it is missing from.
const kMissing = {
  backward: independentOf,
  doubleBackwardTrick: (i: number) => strictMessage("the input's gradient", `that of output ${i}`),
  doubleBackward: (i: number) => strictMessage("the Jacobian of fn", `input ${i}`),
  hessianTrick: (i: number) => strictMessage("the Hessian of fn", `the Jacobian of input ${i}`),
};

/** Replaces missing gradients with zeros of the shapes of `refs`; in strict mode they are errors. */
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
      const what = stage === "backward" || stage === "doubleBackwardTrick" ? "Jacobian" : "Hessian";
      const message = strictMessage(`the ${what} of fn`, `input ${i}`, "createGraph: true");
      fail("NoGradPath", where, message);
    }
    return gradient;
  });
}
