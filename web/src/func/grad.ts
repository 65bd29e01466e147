// eg.func.grad, gradAndValue and vjp: reverse-mode derivatives of functions.

import { readArguments, readOptions } from "../arguments/read.js";
import { checkAlike, checkScalar, oneFor, outputsOf } from "./gradients.js";
import { type Tree, tensorsOf, withLeaves } from "./pytree.js";
import {
  type GradArguments,
  kFunction,
  kGradOptions,
  kHasAux,
  type TreeFunction,
  trace,
} from "./trace.js";

const kVjpOptions = { hasAux: kHasAux };

/**
 * Returns a function that computes the gradient of `fn`, whose result must be a scalar. The gradient is a tensor or a tree
 * of tensors with the structure of the argument `argnums`. With `hasAux`, returns [gradient, aux].
 */
export function grad<Args extends Tree[]>(
  fn: (...args: Args) => Tree,
  ...rest: GradArguments
): (...args: Args) => Tree {
  const run = valueAndGrad("grad", fn, rest);
  return (...args: Args) => {
    const { gradient, aux, hasAux } = run(args);
    return hasAux ? [gradient, aux] : gradient;
  };
}

/** Like grad(), but returns [gradient, value], or with `hasAux` [gradient, [value, aux]]. */
export function gradAndValue<Args extends Tree[]>(
  fn: (...args: Args) => Tree,
  ...rest: GradArguments
): (...args: Args) => [Tree, Tree] {
  const run = valueAndGrad("gradAndValue", fn, rest);
  return (...args: Args) => {
    const { gradient, value, aux, hasAux } = run(args);
    return [gradient, hasAux ? [value, aux] : value];
  };
}

function valueAndGrad(where: string, fn: TreeFunction, rest: readonly unknown[]) {
  kFunction.check(where, "fn", fn);
  const options = readArguments(where, kGradOptions, rest);
  return (args: readonly unknown[]) => {
    const { inputs, chosen, result, aux } = trace(where, fn, args, options);
    const output = checkScalar(where, result);
    const grads = inputs.pull([output], [oneFor(output)]);
    return {
      gradient: inputs.released(withLeaves(chosen, grads)),
      value: inputs.released(output),
      aux,
      hasAux: options.hasAux,
    };
  };
}

/** Takes cotangents with the structure of a function's result and returns an array of cotangents, one per input. */
export type VjpFunction = (cotangents: Tree) => Tree[];

/**
 * Returns [result, vjpFn] of `fn` at `primals`. vjpFn(cotangents) is the vector-Jacobian product: an array with
 * one entry per input, of the input's structure. With `hasAux`, returns [result, vjpFn, aux].
 */
export function vjp<Args extends Tree[]>(
  fn: (...args: Args) => Tree,
  ...given: [...primals: Args] | [...primals: Args, options: { hasAux: boolean }]
): [Tree, VjpFunction, Tree?] {
  kFunction.check("vjp", "fn", fn);
  const { primals, hasAux } = splitOptions(given);
  const argnums = primals.map((_, i) => i);
  const { inputs, chosen, result, aux } = trace("vjp", fn as TreeFunction, primals, {
    argnums,
    hasAux,
  });
  const outputs = outputsOf("vjp", result);
  const pull = (cotangents: Tree) => {
    const weights = tensorsOf("vjpFn", "the cotangents", cotangents);
    checkAlike("vjpFn", "the cotangents", weights, outputs);
    return inputs.released(withLeaves(chosen, inputs.pull(outputs, weights)) as Tree[]);
  };
  const value = inputs.released(result);
  return hasAux ? [value, pull, aux] : [value, pull];
}

// Options come last, where a tree of tensors is also possible.
function splitOptions(given: readonly unknown[]): { primals: readonly unknown[]; hasAux: boolean } {
  const last = given[given.length - 1] as { hasAux?: unknown } | undefined;
  const isOptions = typeof last?.hasAux === "boolean";
  if (!isOptions) return { primals: given, hasAux: false };
  return { primals: given.slice(0, -1), ...readOptions("vjp", kVjpOptions, [last]) };
}
