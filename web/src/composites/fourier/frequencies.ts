// The frequencies of Fourier transforms, and their order.

import { arange, cat, mul, roll } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { getDefaultDtype } from "../../tensor/default_dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite, compositeFactory } from "../composite.js";
import { axisOf, sizeOf } from "../shapes.js";

const kLine = "n:int d:number=1 dtype:dtype?=null";

/** The frequencies of fft() of `n` samples at a distance of `d`, in cycles per unit of `d`: from 0 up, then the negative ones. */
export const fftfreq = /* @__PURE__ */ compositeFactory("fftfreq", kLine, (n, d, dtype) =>
  frequencies("fftfreq", n, d, () =>
    cat([
      arange(0, Math.ceil(n / 2), 1, { dtype: dtype ?? getDefaultDtype() }),
      arange(-Math.floor(n / 2), 0, 1, { dtype: dtype ?? getDefaultDtype() }),
    ]),
  ),
);

/** The frequencies of rfft() of `n` samples at a distance of `d`, in cycles per unit of `d`. */
export const rfftfreq: typeof fftfreq = /* @__PURE__ */ compositeFactory(
  "rfftfreq",
  kLine,
  (n, d, dtype) =>
    frequencies("rfftfreq", n, d, () =>
      arange(Math.floor(n / 2) + 1, { dtype: dtype ?? getDefaultDtype() }),
    ),
);

/** Moves the frequency 0, which fft() puts first, to the middle of the axes `dim`, or of all axes. */
export const fftshift = /* @__PURE__ */ shift("fftshift", (size) => Math.floor(size / 2));

/** The inverse of fftshift(). */
export const ifftshift: typeof fftshift = /* @__PURE__ */ shift("ifftshift", (size) =>
  Math.ceil(size / 2),
);

function frequencies(caller: string, n: number, d: number, cycles: () => Tensor): Tensor {
  if (n <= 0) fail("InvalidArgument", caller, `n: expected at least 1 sample, got ${n}.`);
  return mul(cycles(), 1 / (n * d));
}

function shift(name: string, distanceOf: (size: number) => number) {
  return composite(name, "input:tensor dim:ints?=null", (input, dim) => {
    const dims =
      dim === null ? input.shape.map((_, d) => d) : typeof dim === "number" ? [dim] : dim;
    const axes = dims.map((d) => axisOf(name, d, input.ndim));
    if (axes.length === 0) return input;
    return roll(
      input,
      axes.map((axis) => distanceOf(sizeOf(input, axis))),
      axes,
    );
  });
}
