// eg.func.jvp and linearize: Jacobian-vector products.
//
// They use the double backward trick: g(u) = Jᵀu is linear in u, so its own vector-Jacobian product with v is J v.
// This costs a backward pass through a backward pass, and can be nested like reverse mode.

import { readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { opsAreRecorded, recording } from "../autograd/recording.js";
import { zerosLike } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkAlike, Inputs, outputsOf } from "./gradients.js";
import { type Tree, tensorsOf, withLeaves } from "./pytree.js";
import { kFunction, kHasAux, type TreeFunction, trace } from "./trace.js";

/** A function at a point, and its derivatives there in any direction. */
export interface Linear {
  readonly result: unknown;
  readonly aux: unknown;
  /** The inputs, as a tree. */
  readonly chosen: unknown;
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Tensor[];
  readonly push: (where: string, tangents: readonly Tensor[]) => Tensor[];
  /** True when an output does not depend on the inputs. */
  readonly isConstant: boolean;
}

/** Calls a function and prepares its derivatives in directions that are passed later. */
export function linearAt(
  where: string,
  fn: TreeFunction,
  args: readonly unknown[],
  options: { readonly argnums: number | readonly number[]; readonly hasAux: boolean },
): Linear {
  const { inputs, chosen, result, aux } = trace(where, fn, args, options, true);
  if (inputs.tensors.length === 0) {
    fail(
      "InvalidArgument",
      where,
      "expected at least one tensor to differentiate with respect to.",
    );
  }
  const outputs = outputsOf(where, result);
  const dual = recording(
    () =>
      new Inputs(
        where,
        outputs.map((output) => zerosLike(output).detach()),
      ),
  );
  const pulled = recording(() => inputs.pull(outputs, dual.tensors, true));
  dual.close();
  const push = (caller: string, tangents: readonly Tensor[]): Tensor[] => {
    checkAlike(caller, "the tangents", tangents, inputs.tensors);
    const isOuter = opsAreRecorded() && inputs.hasOthers([...outputs, ...tangents]);
    const pushed = dual.pull(pulled, tangents, isOuter);
    // detach() would also drop a tangent of forward mode.
    return pushed.map((tangent) => (isOuter || !tangent.requiresGrad ? tangent : tangent.detach()));
  };
  const isConstant = outputs.some((output) => !inputs.reach(output));
  const value = inputs.released(result);
  return { result: value, aux, chosen, inputs: inputs.tensors, outputs, push, isConstant };
}

const kJvpOptions = {
  /** Whether to throw if a result does not depend on the primals, instead of returning zeros; default false. */
  strict: boolean.or(false),
  /** Whether `fn` returns [result, aux], of which only the result is differentiated; default false. */
  hasAux: kHasAux,
};

/** Options of `jvp`. */
export type JvpOptions = Options<typeof kJvpOptions>;

/**
 * Returns [result, jvp] of `fn` at `primals`, an array of its arguments: the result and the Jacobian-vector product with
 * `tangents`, an array of the same structure. With `hasAux`, returns [result, jvp, aux].
 */
export function jvp(
  fn: (...args: Tree[]) => Tree,
  primals: readonly Tree[],
  tangents: readonly Tree[],
  ...rest: [options?: JvpOptions]
): [Tree, Tree, Tree?] {
  kFunction.check("jvp", "fn", fn);
  const { strict, hasAux } = readOptions("jvp", kJvpOptions, rest);
  checkList("jvp", "primals", primals);
  checkList("jvp", "tangents", tangents);
  const argnums = primals.map((_, i) => i);
  const { result, aux, push, isConstant } = linearAt("jvp", fn, primals, { argnums, hasAux });
  if (strict && isConstant) {
    const message =
      "the result of fn does not depend on the primals, which strict: true does not allow.";
    fail("NotDifferentiable", "jvp", message);
  }
  const pushed = push("jvp", tensorsOf("jvp", "the tangents", tangents));
  const derivative = withLeaves(result, pushed);
  return hasAux ? [result, derivative, aux] : [result, derivative];
}

/** Returns [result, jvpFn] of `fn` at `primals`. jvpFn(...tangents) is the Jacobian-vector product; `fn` runs only once. */
export function linearize(
  fn: (...args: Tree[]) => Tree,
  ...primals: Tree[]
): [Tree, (...tangents: Tree[]) => Tree] {
  kFunction.check("linearize", "fn", fn);
  const argnums = primals.map((_, i) => i);
  const { result, push } = linearAt("linearize", fn, primals, { argnums, hasAux: false });
  const pushAll = (...tangents: Tree[]) =>
    withLeaves(result, push("jvpFn", tensorsOf("jvpFn", "the tangents", tangents)));
  return [result, pushAll];
}

function checkList(where: string, name: string, value: unknown): void {
  if (Array.isArray(value)) return;
  fail("InvalidArgument", where, `${name}: expected an array with one entry per argument.`);
}
