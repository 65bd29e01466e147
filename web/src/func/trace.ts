// A call of a function that is to be differentiated.

import type { Arguments } from "../arguments/read.js";
import { boolean, either, functionOf, integer, listOf, type Options } from "../arguments/rule.js";
import { recording } from "../autograd/recording.js";
import { fail } from "../runtime/errors.js";
import { Inputs } from "./gradients.js";
import { type Tree, tensorsOf, withLeaves } from "./pytree.js";

/** The rule of functions that also return what is not differentiated. */
export const kHasAux = boolean.or(false);

/** What transforms of functions take. */
export const kGradOptions = {
  /** Which arguments to differentiate by: a position, or a list of them for a list of results. */
  argnums: either(integer, listOf(integer)).or(0),
  /** The function returns [result, aux]: `aux` is handed on as it is, without derivatives. */
  hasAux: kHasAux,
};

/** Options of `grad` and its like. */
export type GradOptions = Options<typeof kGradOptions>;

/** Those options, by position or by name. */
export type GradArguments = Arguments<
  [argnums: number | readonly number[], hasAux: boolean],
  GradOptions
>;

/** A function of trees of tensors. */
export type TreeFunction = (...args: Tree[]) => Tree;

/** What may be differentiated. */
export const kFunction = functionOf<(...args: never[]) => unknown>();

/** A call of a function with fresh inputs at `argnums`, and what it gave. */
export interface Traced {
  readonly inputs: Inputs;
  /** The arguments that are differentiated by: one, or a list where `argnums` is one. */
  readonly chosen: unknown;
  readonly result: unknown;
  readonly aux: unknown;
}

/** Calls a function to differentiate it. */
export function trace(
  where: string,
  fn: TreeFunction,
  args: readonly unknown[],
  { argnums, hasAux }: { readonly argnums: number | readonly number[]; readonly hasAux: boolean },
): Traced {
  const positions = (Array.isArray(argnums) ? argnums : [argnums]).map((one: number) =>
    positionOf(where, one, args.length),
  );
  const chosen = positions.map((i) => args[i]);
  const inputs = new Inputs(where, tensorsOf(where, "an argument to differentiate by", chosen));
  const fresh = withLeaves(chosen, inputs.tensors) as unknown[];
  const full = args.map((arg, i) => (positions.includes(i) ? fresh[positions.indexOf(i)] : arg));
  const returned = recording(() => fn(...full));
  const isSingle = !Array.isArray(argnums);
  const form = { inputs, chosen: isSingle ? chosen[0] : chosen };
  if (!hasAux) return { ...form, result: returned, aux: undefined };
  if (Array.isArray(returned) && returned.length === 2) {
    return { ...form, result: returned[0], aux: inputs.released(returned[1]) };
  }
  return fail("InvalidArgument", where, "with hasAux the function has to return [result, aux].");
}

function positionOf(where: string, argnum: number, count: number): number {
  if (argnum >= -count && argnum < count) return argnum < 0 ? argnum + count : argnum;
  fail("InvalidArgument", where, `Got argnum=${argnum}, but only ${count} positional inputs.`);
}
