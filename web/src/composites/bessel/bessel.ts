// The functions of Bessel in torch.special, by the formulas of the Cephes library. PyTorch has no derivatives of them; here they follow
// from the ops.

import {
  abs,
  add,
  cos,
  div,
  eq,
  exp,
  i0,
  i1,
  isinf,
  le,
  log,
  lt,
  mul,
  neg,
  rsqrt,
  sign,
  sin,
  square,
  sub,
  where,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  kAmplitude0,
  kAmplitude1,
  kFarK0,
  kFarK1,
  kNearJ0,
  kNearJ1,
  kNearK0,
  kNearK1,
  kNearY0,
  kNearY1,
  kShift0,
  kShift1,
  type Rational,
} from "./coefficients.js";
import { chebyshev, either, power, ratio, realFunction } from "./pieces.js";

/** The Bessel function of the first kind of order 0. */
export const besselJ0 = /* @__PURE__ */ realFunction("special.besselJ0", j0);

/** The Bessel function of the first kind of order 1. */
export const besselJ1 = /* @__PURE__ */ realFunction("special.besselJ1", j1);

/** The Bessel function of the second kind of order 0; NaN for negative numbers. */
export const besselY0 = /* @__PURE__ */ realFunction("special.besselY0", (x) =>
  either(
    le(x, 5),
    x,
    (near) => {
      const smooth = ratio(kNearY0, square(near));
      return add(smooth, mul(mul(log(near), j0(near)), 2 / Math.PI));
    },
    (far) => wave(far, kAmplitude0, kShift0, Math.PI / 4).sine,
  ),
);

/** The Bessel function of the second kind of order 1; NaN for negative numbers. */
export const besselY1 = /* @__PURE__ */ realFunction("special.besselY1", (x) =>
  atZero(x, -Infinity, (given) =>
    either(
      le(given, 5),
      given,
      (near) => {
        const smooth = mul(near, ratio(kNearY1, square(near)));
        return add(smooth, mul(sub(mul(j1(near), log(near)), div(1, near)), 2 / Math.PI));
      },
      (far) => wave(far, kAmplitude1, kShift1, (3 * Math.PI) / 4).sine,
    ),
  ),
);

/** The modified Bessel function of the second kind of order 0; NaN for negative numbers. */
export const modifiedBesselK0 = /* @__PURE__ */ realFunction("special.modifiedBesselK0", (x) =>
  either(le(x, 2), x, nearK0, (far) => mul(exp(neg(far)), farK(kFarK0, far))),
);

/** The modified Bessel function of the second kind of order 1; NaN for negative numbers. */
export const modifiedBesselK1 = /* @__PURE__ */ realFunction("special.modifiedBesselK1", (x) =>
  atZero(x, Infinity, (given) =>
    either(le(given, 2), given, nearK1, (far) => mul(exp(neg(far)), farK(kFarK1, far))),
  ),
);

/** modifiedBesselK0() multiplied by exp(x), which does not vanish for large x. */
export const scaledModifiedBesselK0 = /* @__PURE__ */ realFunction(
  "special.scaledModifiedBesselK0",
  (x) =>
    either(
      le(x, 2),
      x,
      (near) => mul(nearK0(near), exp(near)),
      (far) => farK(kFarK0, far),
    ),
);

/** modifiedBesselK1() multiplied by exp(x), which does not vanish for large x. */
export const scaledModifiedBesselK1 = /* @__PURE__ */ realFunction(
  "special.scaledModifiedBesselK1",
  (x) =>
    atZero(x, Infinity, (given) =>
      either(
        le(given, 2),
        given,
        (near) => mul(nearK1(near), exp(near)),
        (far) => farK(kFarK1, far),
      ),
    ),
);

/** The spherical Bessel function of the first kind of order 0: sin(x) / x, and 1 at 0. */
export const sphericalBesselJ0 = /* @__PURE__ */ realFunction("special.sphericalBesselJ0", (x) =>
  where(
    isinf(x),
    0,
    either(
      lt(abs(x), 0.5),
      x,
      (near) => power(kSphere, square(near)),
      (far) => div(sin(far), far),
    ),
  ),
);

// The series of sin(x) / x: the inverse factorials of the odd numbers.
const kSphere = [1 / 6227020800, -1 / 39916800, 1 / 362880, -1 / 5040, 1 / 120, -1 / 6, 1];

// The squares of the first zeros of J0 and J1.
const kZeroJ0 = 5.783185962946785;
const kSecondZeroJ0 = 30.471262343662087;
const kZeroJ1 = 14.681970642123893;
const kSecondZeroJ1 = 49.2184563216946;

function j0(x: Tensor): Tensor {
  return either(
    le(abs(x), 5),
    x,
    (near) => {
      const z = square(near);
      const zeros = mul(sub(z, kZeroJ0), sub(z, kSecondZeroJ0));
      return where(lt(z, 1e-10), sub(1, div(z, 4)), mul(zeros, ratio(kNearJ0, z)));
    },
    (far) => wave(abs(far), kAmplitude0, kShift0, Math.PI / 4).cosine,
  );
}

function j1(x: Tensor): Tensor {
  return either(
    le(abs(x), 5),
    x,
    (near) => {
      const z = square(near);
      const zeros = mul(sub(z, kZeroJ1), sub(z, kSecondZeroJ1));
      return mul(mul(near, ratio(kNearJ1, z)), zeros);
    },
    (far) => mul(sign(far), wave(abs(far), kAmplitude1, kShift1, (3 * Math.PI) / 4).cosine),
  );
}

// The waves with which J and Y decay far from 0.
function wave(
  x: Tensor,
  amplitude: Rational,
  shift: Rational,
  phase: number,
): { readonly cosine: Tensor; readonly sine: Tensor } {
  const inverse = div(5, x);
  const z = square(inverse);
  const [p, q] = [ratio(amplitude, z), mul(inverse, ratio(shift, z))];
  const angle = sub(x, phase);
  const scale = mul(rsqrt(x), Math.sqrt(2 / Math.PI));
  return {
    cosine: mul(sub(mul(p, cos(angle)), mul(q, sin(angle))), scale),
    sine: mul(add(mul(p, sin(angle)), mul(q, cos(angle))), scale),
  };
}

function nearK0(x: Tensor): Tensor {
  return sub(chebyshev(kNearK0, sub(square(x), 2)), mul(log(div(x, 2)), i0(x)));
}

function nearK1(x: Tensor): Tensor {
  return add(mul(log(div(x, 2)), i1(x)), div(chebyshev(kNearK1, sub(square(x), 2)), x));
}

function farK(series: readonly number[], x: Tensor): Tensor {
  return mul(chebyshev(series, sub(div(8, x), 2)), rsqrt(x));
}

// What is infinite at 0, where its formula is not.
function atZero(x: Tensor, value: number, f: (x: Tensor) => Tensor): Tensor {
  const isZero = eq(x, 0);
  return where(isZero, value, f(where(isZero, 1, x)));
}
