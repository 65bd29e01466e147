// The tensors that an optimizer stores per parameter.

import { clone, fullLike, viewAsComplex, viewAsReal, zerosLike } from "../generated/ops.js";
import { tensor } from "../ops/create.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { getDefaultDtype } from "../tensor/default_dtype.js";
import { Tensor } from "../tensor/tensor.js";

/** Returns zeros of the shape of a parameter. */
export function zeroState(param: Tensor): Tensor {
  return zerosLike(param);
}

/** Returns a tensor of one value of the shape of a parameter; both parts of a complex number have it. */
export function fullState(param: Tensor, value: number): Tensor {
  if (!param.isComplex()) return fullLike(param, value);
  const parts = fullLike(viewAsReal(param), value);
  return viewAsComplex(parts);
}

/** Returns a copy of a saved tensor on the device of the parameter; throws if their shapes differ. */
export function loadedState(
  owner: string,
  name: string,
  saved: Readonly<Record<string, Tensor>>,
  param: Tensor,
): Tensor {
  const value = valueIn(owner, name, saved);
  if (!(value instanceof Tensor)) return refuse(owner, name, "a tensor", value);
  if (String(value.shape) !== String(param.shape)) {
    fail(
      "ShapeMismatch",
      owner,
      `"${name}" has shape [${value.shape}], but its parameter has shape [${param.shape}].`,
    );
  }
  return clone(value.detach().to(param));
}

/** Rounds a number that is stored between steps: PyTorch stores it in a float32 tensor, unless the default dtype is float64. */
export function keptNumber(value: number): number {
  return getDefaultDtype() === "float64" ? value : Math.fround(value);
}

/** Returns a number as PyTorch saves it: a tensor that represents it exactly. */
export function numberState(value: number): Tensor {
  return Math.fround(value) === value ? tensor(value) : tensor(value, { dtype: "float64" });
}

/** Returns the number in a saved tensor. */
export function loadedNumber(
  owner: string,
  name: string,
  saved: Readonly<Record<string, Tensor | number>>,
): number {
  const value: unknown = valueIn(owner, name, saved);
  if (typeof value === "number" || typeof value === "bigint") return Number(value);
  if (value instanceof Tensor && value.numel === 1) return Number(value.item());
  return refuse(owner, name, "a number, or a tensor of one element", value);
}

function valueIn<T>(owner: string, name: string, saved: Readonly<Record<string, T>>): T {
  const value = saved[name];
  if (value === undefined) fail("InvalidArgument", owner, `the state has no "${name}".`);
  return value;
}

function refuse(owner: string, name: string, expected: string, value: unknown): never {
  const reason = `"${name}" of the state: expected ${expected}, got ${describe(value)}.`;
  return fail("InvalidArgument", owner, reason);
}
