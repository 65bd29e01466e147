// Orthogonal polynomials of torch.special, by their recurrences. PyTorch has no derivatives of them; here they follow from the ops.

import { toDtype } from "../generated/internal.js";
import { add, div, eq, mul, onesLike, sub, trunc, where, zerosLike } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { getDefaultDtype } from "../tensor/default_dtype.js";
import { isComplex, isFloat } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";

/** The polynomial of degree 1 at x, and that of degree k + 1 by those of degrees k and k - 1. */
interface Family {
  first(x: Tensor): Tensor;
  next(k: number, last: Tensor, before: Tensor, x: Tensor): Tensor;
}

/** Each degree takes a step of the recurrence. */
const kHighestDegree = 10_000;

const kChebyshevStep: Family["next"] = (_, last, before, x) => sub(mul(mul(x, 2), last), before);

const kFirstKind: Family = { first: (x) => x, next: kChebyshevStep };
const kSecondKind: Family = { first: (x) => mul(x, 2), next: kChebyshevStep };
const kThirdKind: Family = { first: (x) => sub(mul(x, 2), 1), next: kChebyshevStep };
const kFourthKind: Family = { first: (x) => add(mul(x, 2), 1), next: kChebyshevStep };

/** The Chebyshev polynomial of the first kind of degree n, a whole number or a tensor of them; 0 for a negative one. */
export const chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.chebyshevPolynomialT",
  kFirstKind,
);

/** The Chebyshev polynomial of the second kind of degree n. */
export const chebyshevPolynomialU: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.chebyshevPolynomialU",
  kSecondKind,
);

/** The Chebyshev polynomial of the third kind of degree n. */
export const chebyshevPolynomialV: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.chebyshevPolynomialV",
  kThirdKind,
);

/** The Chebyshev polynomial of the fourth kind of degree n. */
export const chebyshevPolynomialW: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.chebyshevPolynomialW",
  kFourthKind,
);

/** The Chebyshev polynomial of the first kind of degree n at 2 x - 1. */
export const shiftedChebyshevPolynomialT: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.shiftedChebyshevPolynomialT",
  kFirstKind,
  shifted,
);

/** The Chebyshev polynomial of the second kind of degree n at 2 x - 1. */
export const shiftedChebyshevPolynomialU: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.shiftedChebyshevPolynomialU",
  kSecondKind,
  shifted,
);

/** The Chebyshev polynomial of the third kind of degree n at 2 x - 1. */
export const shiftedChebyshevPolynomialV: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.shiftedChebyshevPolynomialV",
  kThirdKind,
  shifted,
);

/** The Chebyshev polynomial of the fourth kind of degree n at 2 x - 1. */
export const shiftedChebyshevPolynomialW: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.shiftedChebyshevPolynomialW",
  kFourthKind,
  shifted,
);

/** The physicists' Hermite polynomial of degree n. */
export const hermitePolynomialH: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.hermitePolynomialH",
  {
    first: (x) => mul(x, 2),
    next: (k, last, before, x) => sub(mul(mul(x, 2), last), mul(before, 2 * k)),
  },
);

/** The probabilists' Hermite polynomial of degree n. */
export const hermitePolynomialHe: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.hermitePolynomialHe",
  {
    first: (x) => x,
    next: (k, last, before, x) => sub(mul(x, last), mul(before, k)),
  },
);

/** The Laguerre polynomial of degree n. */
export const laguerrePolynomialL: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.laguerrePolynomialL",
  {
    first: (x) => sub(1, x),
    next: (k, last, before, x) => div(sub(mul(sub(2 * k + 1, x), last), mul(before, k)), k + 1),
  },
);

/** The Legendre polynomial of degree n. */
export const legendrePolynomialP: typeof chebyshevPolynomialT = /* @__PURE__ */ polynomial(
  "special.legendrePolynomialP",
  {
    first: (x) => x,
    next: (k, last, before, x) => div(sub(mul(mul(x, 2 * k + 1), last), mul(before, k)), k + 1),
  },
);

function shifted(x: Tensor): Tensor {
  return sub(mul(x, 2), 1);
}

function polynomial(name: string, family: Family, argument: (x: Tensor) => Tensor = (x) => x) {
  return composite(name, "x:tensor n:any", (x, n: number | Tensor) => {
    if (isComplex(x.dtype))
      fail("DtypeMismatch", name, `x: expected real numbers, got ${x.dtype}.`);
    const at = argument(isFloat(x.dtype) ? x : toDtype(x, getDefaultDtype()));
    return n instanceof Tensor ? ofDegrees(name, family, at, n) : ofDegree(name, family, at, n);
  });
}

function ofDegree(name: string, family: Family, x: Tensor, n: unknown): Tensor {
  if (typeof n !== "number" || Number.isNaN(n))
    fail("InvalidArgument", name, `n: expected a number or a tensor, got ${describe(n)}.`);
  const degree = Math.trunc(n);
  checkDegree(name, degree);
  if (degree < 0) return zerosLike(x);
  let result = onesLike(x);
  walk(family, x, degree, (_, value) => {
    result = value;
  });
  return result === x ? mul(x, 1) : result;
}

// Each element has the polynomial of its own degree.
function ofDegrees(name: string, family: Family, x: Tensor, n: Tensor): Tensor {
  if (isComplex(n.dtype)) fail("DtypeMismatch", name, `n: expected real numbers, got ${n.dtype}.`);
  const degrees = n.dtype === "bool" ? toDtype(n, "int64") : trunc(n.detach());
  const highest = n.numel === 0 ? 0 : Number(degrees.max().item<number | bigint>());
  checkDegree(name, highest);
  let result = where(eq(degrees, 0), onesLike(x), zerosLike(x));
  walk(family, x, highest, (k, value) => {
    result = where(eq(degrees, k), value, result);
  });
  return result;
}

// Calls `found` with the polynomials of the degrees from 1 on.
function walk(
  { first, next }: Family,
  x: Tensor,
  highest: number,
  found: (degree: number, value: Tensor) => void,
): void {
  let [before, last] = [onesLike(x), first(x)];
  for (let k = 1; k <= highest; k++) {
    found(k, last);
    if (k < highest) [before, last] = [last, next(k, last, before, x)];
  }
}

function checkDegree(name: string, degree: number): void {
  if (degree <= kHighestDegree) return;
  fail("InvalidArgument", name, `n: expected degrees up to ${kHighestDegree}, got ${degree}.`);
}
