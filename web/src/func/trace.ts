// Calling a function in order to differentiate it.

import type { Arguments } from "../arguments/read.js";
import { boolean, functionOf, integer, type Options, oneOrMore } from "../arguments/rule.js";
import { replacingJvps } from "../autograd/function.js";
import { recording } from "../autograd/recording.js";
import { fail } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";
import { nextSerial } from "../tensor/tensor.js";
import { keepingCaptured } from "./captured.js";
import { byJvp } from "./forward_functions.js";
import { Inputs } from "./gradients.js";
import { type Tree, tensorsOf, withLeaves } from "./pytree.js";

/** The rule of the option for functions that also return auxiliary values, which are not differentiated. */
export const kHasAux = boolean.or(false);

/** The options of the transforms that compute derivatives. */
export const kGradOptions = {
  /** The argument to differentiate with respect to: its index, or an array of indices for an array of results; default 0. */
  argnums: oneOrMore(integer).or(0),
  /** Whether the function returns [result, aux], of which `aux` is returned without being differentiated; default false. */
  hasAux: kHasAux,
};

/** Options of `grad` and similar transforms. */
export type GradOptions = Options<typeof kGradOptions>;

/** These options, by position or by name. */
export type GradArguments = Arguments<
  [argnums: number | readonly number[], hasAux: boolean],
  GradOptions
>;

/** A function of trees of tensors. */
export type TreeFunction = (...args: Tree[]) => Tree;

/** The rule for the function to differentiate. */
export const kFunction = functionOf<(...args: never[]) => unknown>();

/** A call of a function with fresh inputs at `argnums`, and its result. */
export interface Traced {
  readonly inputs: Inputs;
  /** The arguments to differentiate with respect to: one, or an array if `argnums` is an array. */
  readonly chosen: unknown;
  readonly result: unknown;
  readonly aux: unknown;
}

/** Calls a function to differentiate it; in forward mode it may change these arguments in place, and Functions use their jvp. */
export function trace(
  where: string,
  fn: TreeFunction,
  args: readonly unknown[],
  { argnums, hasAux }: { readonly argnums: number | readonly number[]; readonly hasAux: boolean },
  inForwardMode = false,
): Traced {
  const start = nextSerial();
  const positions = positionsOf(where, [argnums].flat(), args.length);
  const chosen = positions.map((i) => args[i]);
  const given = tensorsOf(where, "an argument of argnums", chosen);
  const inputs = new Inputs(where, given, inForwardMode);
  const fresh = withLeaves(chosen, inputs.passed) as unknown[];
  const full = args.map((arg, i) => (positions.includes(i) ? fresh[positions.indexOf(i)] : arg));
  const returned = keepingCaptured(where, args, start, () =>
    called(fn, full, inputs, inForwardMode ? byJvp : null),
  );
  if (isPromise(returned)) {
    returned.then(undefined, () => undefined);
    fail(
      "InvalidArgument",
      where,
      "the function returned a promise: only synchronous functions can be differentiated.",
    );
  }
  inputs.writeBack();
  const isSingle = !Array.isArray(argnums);
  const form = { inputs, chosen: isSingle ? chosen[0] : chosen };
  if (!hasAux) return { ...form, result: returned, aux: undefined };
  if (Array.isArray(returned) && returned.length === 2) {
    return { ...form, result: returned[0], aux: inputs.released(returned[1]) };
  }
  return fail(
    "InvalidArgument",
    where,
    "with hasAux: true, the function must return [result, aux].",
  );
}

function called(
  fn: TreeFunction,
  args: readonly unknown[],
  inputs: Inputs,
  rule: typeof byJvp | null,
): unknown {
  try {
    // Wrapped in an array so that recording() does not reject a promise, for which trace() has its own message.
    return replacingJvps(rule, () => recording(() => [fn(...args) as unknown]))[0];
  } finally {
    inputs.close();
  }
}

function positionsOf(where: string, argnums: readonly number[], count: number): number[] {
  const positions = argnums.map((argnum) => positionOf(where, argnum, count));
  const again = positions.findIndex((position, i) => positions.indexOf(position) < i);
  if (again < 0) return positions;
  const reason = `got [${argnums.join(", ")}], which has the argument ${positions[again]} twice.`;
  fail("InvalidArgument", where, `argnums: expected different arguments, ${reason}`);
}

function positionOf(where: string, argnum: number, count: number): number {
  if (argnum >= -count && argnum < count) return argnum < 0 ? argnum + count : argnum;
  fail("InvalidArgument", where, `argnums: got ${argnum} for a call with ${count} arguments.`);
}
