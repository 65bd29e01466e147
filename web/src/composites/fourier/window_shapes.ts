// The shapes of windows, which have names of their own as functions and in eg.signal.windows.

import { toDtype } from "../../generated/internal.js";
import {
  abs,
  add,
  arange,
  clamp,
  cos,
  div,
  full,
  mul,
  onesLike,
  sqrt,
  square,
  sub,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { getDefaultDtype } from "../../tensor/default_dtype.js";
import { type DType, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";

// For arguments that need more terms the function overflows to infinity.
const kMostTerms = 1000;

/** A sum of cosines of increasing frequency with these factors and alternating signs. */
export function cosines(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
  factors: readonly number[],
): Tensor {
  return windowOf(caller, length, periodic, dtype, (position) =>
    factors
      .map((factor, k) => mul(cos(mul(position, 2 * Math.PI * k)), k % 2 === 0 ? factor : -factor))
      .reduce((sum, wave) => add(sum, wave)),
  );
}

/** A triangle. */
export function triangle(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
): Tensor {
  return windowOf(caller, length, periodic, dtype, (position) =>
    sub(1, abs(sub(mul(position, 2), 1))),
  );
}

/** Kaiser's window. */
export function kaiserOf(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
  beta: number,
): Tensor {
  return windowOf(caller, length, periodic, dtype, (position) => {
    const height = sqrt(clamp(sub(1, square(sub(mul(position, 2), 1))), 0));
    return div(bessel(mul(height, beta), beta), bessel(full([], beta, { dtype: "float64" }), beta));
  });
}

// `weightsAt` receives positions from 0 to 1.
function windowOf(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
  weightsAt: (positions: Tensor) => Tensor,
): Tensor {
  return windowFrom(caller, length, dtype, (samples) =>
    length === 1 ? onesLike(samples) : weightsAt(div(samples, periodic ? length : length - 1)),
  );
}

/** A window of any shape: `weightsAt` receives the numbers of its samples, in a higher precision than that of the window. */
export function windowFrom(
  caller: string,
  length: number,
  dtype: DType | null,
  weightsAt: (samples: Tensor) => Tensor,
): Tensor {
  if (length < 0) {
    fail("InvalidArgument", caller, `the length: expected 0 or more, got ${length}.`);
  }
  if (dtype !== null && !isFloat(dtype)) {
    fail("DtypeMismatch", caller, `dtype: expected float32 or float64, got ${dtype}.`);
  }
  return toDtype(weightsAt(arange(length, { dtype: "float64" })), dtype ?? getDefaultDtype());
}

// The modified Bessel function of order 0 for arguments up to `most`, by its series, whose terms are all positive.
function bessel(x: Tensor, most: number): Tensor {
  const quarter = square(div(x, 2));
  const largest = (most / 2) ** 2;
  let [term, bound, sum] = [onesLike(x), 1, onesLike(x)];
  for (let k = 1; bound > Number.EPSILON && k < kMostTerms; k++) {
    term = mul(term, div(quarter, k * k));
    bound *= largest / (k * k);
    sum = add(sum, term);
  }
  return sum;
}
