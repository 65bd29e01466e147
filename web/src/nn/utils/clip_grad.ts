// Keeping gradients small.

import { listOf } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import {
  add,
  clamp,
  clamp_,
  div,
  isfinite,
  mul_,
  norm,
  stack,
  zeros,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";

/** Options of `clipGradNorm_`. */
export interface ClipGradNormOptions {
  /** The p of the norm; default 2, and Infinity is the largest element. */
  normType?: number;
  /** Throw when the norm is infinite or NaN; default false. */
  errorIfNonfinite?: boolean;
}

/**
 * Scales the gradients of all parameters down together so that their norm, as if they were one vector,
 * is at most `maxNorm`; returns the norm they had.
 */
export function clipGradNorm_(
  parameters: Tensor | Iterable<Tensor>,
  maxNorm: number,
  normType: number | ClipGradNormOptions = 2,
  errorIfNonfinite = false,
): Tensor {
  const options = typeof normType === "object" ? normType : { normType, errorIfNonfinite };
  const { normType: p = 2, errorIfNonfinite: isChecked = false } = options;
  return scope(() =>
    noGrad(() => {
      const grads = gradsOf("clipGradNorm_", parameters);
      if (grads.length === 0) return zeros([]);
      const each = grads.map((grad) => norm(grad, p));
      const total = norm(stack(each), p);
      if (isChecked && isfinite(total).item<boolean>() === false) {
        fail(
          "InvalidArgument",
          "clipGradNorm_",
          `The total norm of order ${p} for gradients from \`parameters\` is non-finite, so it cannot be clipped. ` +
            "To disable this error and scale the gradients by the non-finite norm anyway, leave out errorIfNonfinite.",
        );
      }
      // Always multiplied: looking whether it is needed would wait for the norm.
      const factor = clamp(div(maxNorm, add(total, 1e-6)), { max: 1 });
      for (const grad of grads) mul_(grad, factor);
      return total;
    }),
  );
}

/** Limits every element of the gradients to [-clipValue, clipValue]. */
export function clipGradValue_(parameters: Tensor | Iterable<Tensor>, clipValue: number): void {
  scope(() =>
    noGrad(() => {
      for (const grad of gradsOf("clipGradValue_", parameters)) clamp_(grad, -clipValue, clipValue);
    }),
  );
}

function gradsOf(where: string, parameters: Tensor | Iterable<Tensor>): Tensor[] {
  return tensorsOf(where, parameters).flatMap((parameter) => parameter.grad ?? []);
}

function tensorsOf(where: string, parameters: Tensor | Iterable<Tensor>): readonly Tensor[] {
  if (parameters instanceof Tensor) return [parameters];
  const given: unknown = parameters;
  const list = isIterable(given) ? [...given] : given;
  return kTensors.check(where, "parameters", list);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof (value as Iterable<unknown> | null | undefined)?.[Symbol.iterator] === "function";
}

const kTensors = listOf(tensorRule);
