// Airy's function Ai, by the formulas of the Cephes library.

import {
  add,
  cos,
  div,
  exp,
  ge,
  gt,
  isinf,
  lt,
  mul,
  neg,
  onesLike,
  pow,
  rsqrt,
  sin,
  sqrt,
  square,
  sub,
  where,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kAiryCosine, kAiryFar, kAirySine } from "./coefficients.js";
import { either, ratio, realFunction } from "./pieces.js";

// Where Ai changes from one formula to another, and from where on it is 0.
const kNear = 2.09;
const kEnd = 103.892;

const kTerms = 20;
const kInverseSqrtPi = 0.5641895835477563;
const kAt0 = 0.3550280538878172;
const kSlopeAt0 = -0.2588194037928068;

/** Airy's function Ai; NaN for infinite numbers. */
export const airyAi = /* @__PURE__ */ realFunction("special.airyAi", (x) => {
  const known = either(lt(x, -kNear), neg(x), left, (mirrored) => right(neg(mirrored)));
  return where(isinf(x), Number.NaN, where(gt(x, kEnd), 0, known));
});

// Waves, by -x.
function left(x: Tensor): Tensor {
  const zeta = div(mul(mul(x, 2), sqrt(x)), 3);
  const inverse = div(1, zeta);
  const z = square(inverse);
  const angle = add(zeta, Math.PI / 4);
  const sine = mul(sin(angle), add(mul(z, ratio(kAirySine, z)), 1));
  const cosine = mul(cos(angle), mul(inverse, ratio(kAiryCosine, z)));
  return mul(mul(sub(sine, cosine), rsqrt(sqrt(x))), kInverseSqrtPi);
}

function right(x: Tensor): Tensor {
  return either(ge(x, kNear), x, decay, series);
}

function decay(x: Tensor): Tensor {
  const zeta = div(mul(mul(x, 2), sqrt(x)), 3);
  const scale = mul(rsqrt(sqrt(x)), kInverseSqrtPi / 2);
  return mul(mul(ratio(kAiryFar, div(1, zeta)), scale), exp(neg(zeta)));
}

// The two solutions of y'' = x y that are 1 and x at 0.
function series(x: Tensor): Tensor {
  const z = pow(x, 3);
  let [f, g, m, n] = [onesLike(x), x, onesLike(x), x];
  for (let k = 3; k < 3 * kTerms; k += 3) {
    m = div(mul(m, z), (k - 1) * k);
    n = div(mul(n, z), k * (k + 1));
    [f, g] = [add(f, m), add(g, n)];
  }
  return add(mul(f, kAt0), mul(g, kSlopeAt0));
}
