// Tensors made of powers.

import {
  cat,
  cumprod,
  expand,
  flip,
  full,
  narrow,
  onesLike,
  pow,
  unsqueeze,
} from "../generated/ops.js";
import { complexDtypeFor, linspace } from "../ops/create.js";
import { fail } from "../runtime/errors/errors.js";
import { getDefaultDtype } from "../tensor/default_dtype.js";
import { type Complex, isComplexNumber } from "../tensor/dtype.js";
import { composite, compositeFactory } from "./composite.js";
import { sizeOf } from "./shapes.js";

type End = number | Complex;

/** `base` raised to `steps` exponents, evenly spaced from `start` to `end` inclusive. */
export const logspace = /* @__PURE__ */ compositeFactory(
  "logspace",
  "start:any end:any steps:int base:number=10 dtype:dtype?=null",
  (start: End, end: End, steps, base, given, device) => {
    if (isComplexNumber(start) || isComplexNumber(end)) {
      const dtype = complexDtypeFor("logspace", given);
      const exponents = linspace(start, end, steps, { dtype: "complex128" });
      return pow(base, exponents).to(dtype, device ?? "cpu");
    }
    const dtype = given ?? getDefaultDtype();
    // Devices have no float64, and a base in a tensor is not transferred.
    if (device !== undefined && device !== "cpu" && dtype === "float32") {
      const on = { dtype, device } as const;
      return pow(full([], base, on), linspace(start, end, steps, on));
    }
    return pow(base, linspace(start, end, steps, { dtype: "float64" })).to(dtype);
  },
);

/**
 * A matrix of the powers of each number, one row per number, with `N` columns (by default square). The highest power comes
 * first unless `increasing`.
 */
export const vander = /* @__PURE__ */ composite(
  "vander",
  "x:tensor N:int?=null increasing:bool=false",
  (x, N, increasing) => {
    if (x.ndim !== 1)
      fail("ShapeMismatch", "vander", `x: expected one dimension, got [${x.shape}].`);
    const width = N ?? sizeOf(x, 0);
    if (width < 0) fail("InvalidArgument", "vander", `N: expected 0 or more, got ${width}.`);
    const column = unsqueeze(x, 1);
    const factors = cat([onesLike(column), expand(column, [-1, Math.max(width - 1, 0)])], 1);
    const powers = narrow(cumprod(factors, 1), 1, 0, width);
    return increasing ? powers : flip(powers, 1);
  },
);
