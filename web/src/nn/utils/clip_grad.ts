// Keeping gradients small.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, number, type Options, Rule } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { norm } from "../../generated/internal.js";
import { add, clamp, clamp_, div, isfinite, mul_, stack, zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { listOf } from "./iterables.js";

const kNormOptions = {
  /** The order of the norm; default 2; Infinity stands for the largest absolute value. */
  normType: number.or(2),
  /** Throw if the norm is infinite or NaN; default false. */
  errorIfNonfinite: boolean.or(false),
};

const kParameters = new Rule<Tensor | Iterable<Tensor>>(
  "a tensor or a list of tensors",
  (value) => {
    return tensorRule.accepts(value) || (Array.isArray(value) && value.every(tensorRule.accepts));
  },
);

const kNormArguments = { parameters: kParameters, maxNorm: number, ...kNormOptions };

const kValueArguments = { parameters: kParameters, clipValue: number };

/** Options of `clipGradNorm_`. */
export type ClipGradNormOptions = Options<typeof kNormOptions>;

const kTotalArguments = { tensors: kParameters, ...kNormOptions };

/** Returns the norm of tensors as if they were one vector; 0 for no tensors. */
export function getTotalNorm(
  tensors: Tensor | Iterable<Tensor>,
  ...rest: Arguments<[normType: number, errorIfNonfinite: boolean], ClipGradNormOptions>
): Tensor {
  const call = readArguments("getTotalNorm", kTotalArguments, [listOf(tensors), ...rest]);
  return scope(() => totalNorm("getTotalNorm", tensorsOf(call.tensors), call));
}

const kWithNormArguments = { parameters: kParameters, maxNorm: number, totalNorm: tensorRule };

/** Scales the gradients of all parameters down as clipGradNorm_() does, given their norm. */
export function clipGradsWithNorm_(
  parameters: Tensor | Iterable<Tensor>,
  maxNorm: number,
  ...rest: [totalNorm: Tensor]
): void {
  const given = [listOf(parameters), maxNorm, ...rest];
  const call = readArguments("clipGradsWithNorm_", kWithNormArguments, given);
  scope(() => noGrad(() => scaleDown(gradsOf(call.parameters), call.maxNorm, call.totalNorm)));
}

/**
 * Scales the gradients of all parameters down together so that their norm, as if they were one vector,
 * is at most `maxNorm`; returns the norm they had.
 */
export function clipGradNorm_(
  parameters: Tensor | Iterable<Tensor>,
  maxNorm: number,
  ...rest: Arguments<[normType: number, errorIfNonfinite: boolean], ClipGradNormOptions>
): Tensor {
  const given = [listOf(parameters), maxNorm, ...rest];
  const call = readArguments("clipGradNorm_", kNormArguments, given);
  return scope(() =>
    noGrad(() => {
      const grads = gradsOf(call.parameters);
      const total = totalNorm("clipGradNorm_", grads, call);
      scaleDown(grads, call.maxNorm, total);
      return total;
    }),
  );
}

function totalNorm(
  where: string,
  tensors: readonly Tensor[],
  { normType: p, errorIfNonfinite }: Required<ClipGradNormOptions>,
): Tensor {
  const [first] = tensors;
  if (first === undefined) return zeros([]);
  const each = tensors.map((tensor) => norm(tensor, p).to(first.device));
  const total = norm(stack(each), p);
  if (errorIfNonfinite && isfinite(total).item<boolean>() === false) {
    fail(
      "InvalidArgument",
      where,
      `the norm of order ${p} of all gradients is infinite or NaN: omit errorIfNonfinite to allow that.`,
    );
  }
  return total;
}

// Multiplies in any case: a comparison would wait for the norm.
function scaleDown(grads: readonly Tensor[], maxNorm: number, total: Tensor): void {
  const factor = clamp(div(maxNorm, add(total, 1e-6)), { max: 1 });
  for (const grad of grads) mul_(grad, factor.to(grad.device));
}

/** Limits every element of the gradients to [-clipValue, clipValue]. */
export function clipGradValue_(
  parameters: Tensor | Iterable<Tensor>,
  ...rest: [clipValue: number]
): void {
  const given = [listOf(parameters), ...rest];
  const { clipValue, parameters: own } = readArguments("clipGradValue_", kValueArguments, given);
  scope(() =>
    noGrad(() => {
      for (const grad of gradsOf(own)) clamp_(grad, -clipValue, clipValue);
    }),
  );
}

function tensorsOf(given: Tensor | Iterable<Tensor>): Tensor[] {
  return given instanceof Tensor ? [given] : [...given];
}

function gradsOf(parameters: Tensor | Iterable<Tensor>): Tensor[] {
  return tensorsOf(parameters).flatMap((parameter) => parameter.grad ?? []);
}
