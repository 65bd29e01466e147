// eg.signal.windows: torch.signal.windows. Unlike hannWindow() and its siblings, these are symmetric by default, for the design of
// filters; `sym: false` omits the last sample, for spectra.

import { abs, div, exp, mul, neg, sin, square, sub } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { DType } from "../../tensor/dtype.js";
import type { TensorOptions } from "../../tensor/factory_options.js";
import type { Tensor } from "../../tensor/tensor.js";
import { compositeFactory } from "../composite.js";
import { cosines, kaiserOf, triangle, windowFrom } from "../fourier/window_shapes.js";

interface WindowOptions extends TensorOptions {
  /** Whether the window ends as it begins; default true. */
  sym?: boolean;
}

interface GeneralHammingOptions {
  /** The constant term; default 0.54. */
  alpha?: number;
}

interface GeneralCosineOptions {
  /** The factors of the cosines, that of the constant first. */
  a: readonly number[];
}

interface KaiserOptions {
  /** How narrow the window is; default 12. */
  beta?: number;
}

interface GaussianOptions {
  /** The standard deviation in samples; default 1. */
  std?: number;
}

interface ExponentialOptions {
  /** The sample at which the window is 1; default: its middle. */
  center?: number | null;
  /** The number of samples in which it falls to 1 / e; default 1. */
  tau?: number;
}

type Window<More = unknown> = (M: number, options?: WindowOptions & More) => Tensor;

const kLine = "M:int sym:bool=true dtype:dtype?=null";

/** Hann's window, a raised cosine: 0.5 - 0.5 cos. */
export const hann = /* @__PURE__ */ compositeFactory<Window>(
  "signal.windows.hann",
  kLine,
  (length: number, sym: boolean, dtype: DType | null) =>
    cosines("signal.windows.hann", length, !sym, dtype, [0.5, 0.5]),
);

/** Hamming's window: 0.54 - 0.46 cos. */
export const hamming = /* @__PURE__ */ compositeFactory<Window>(
  "signal.windows.hamming",
  kLine,
  (length: number, sym: boolean, dtype: DType | null) =>
    cosines("signal.windows.hamming", length, !sym, dtype, [0.54, 0.46]),
);

/** Hamming's window with any `alpha`: alpha - (1 - alpha) cos. */
export const generalHamming = /* @__PURE__ */ compositeFactory<Window<GeneralHammingOptions>>(
  "signal.windows.generalHamming",
  "M:int alpha:number=0.54 sym:bool=true dtype:dtype?=null",
  (length: number, alpha: number, sym: boolean, dtype: DType | null) =>
    cosines("signal.windows.generalHamming", length, !sym, dtype, [alpha, 1 - alpha]),
);

/** Blackman's window: 0.42 - 0.5 cos + 0.08 cos of twice that. */
export const blackman = /* @__PURE__ */ compositeFactory<Window>(
  "signal.windows.blackman",
  kLine,
  (length: number, sym: boolean, dtype: DType | null) =>
    cosines("signal.windows.blackman", length, !sym, dtype, [0.42, 0.5, 0.08]),
);

/** Nuttall's window, a sum of four cosines whose side lobes are low. */
export const nuttall = /* @__PURE__ */ compositeFactory<Window>(
  "signal.windows.nuttall",
  kLine,
  (length: number, sym: boolean, dtype: DType | null) =>
    cosines(
      "signal.windows.nuttall",
      length,
      !sym,
      dtype,
      [0.3635819, 0.4891775, 0.1365995, 0.0106411],
    ),
);

/** A sum of cosines of increasing frequency with the factors `a` and alternating signs. */
export const generalCosine = /* @__PURE__ */ compositeFactory<Window<GeneralCosineOptions>>(
  "signal.windows.generalCosine",
  "M:int a:numbers? sym:bool=true dtype:dtype?=null",
  (length: number, a: readonly number[] | null, sym: boolean, dtype: DType | null) => {
    // A list of numbers may be given as one number.
    if (!Array.isArray(a) || a.length === 0)
      fail("InvalidArgument", "signal.windows.generalCosine", "a: expected an array of factors.");
    return cosines("signal.windows.generalCosine", length, !sym, dtype, a);
  },
);

/** Bartlett's window, a triangle. */
export const bartlett = /* @__PURE__ */ compositeFactory<Window>(
  "signal.windows.bartlett",
  kLine,
  (length: number, sym: boolean, dtype: DType | null) =>
    triangle("signal.windows.bartlett", length, !sym, dtype),
);

/** Kaiser's window, narrower for a larger `beta` (default 12). */
export const kaiser = /* @__PURE__ */ compositeFactory<Window<KaiserOptions>>(
  "signal.windows.kaiser",
  "M:int beta:number=12 sym:bool=true dtype:dtype?=null",
  (length: number, beta: number, sym: boolean, dtype: DType | null) => {
    const where = "signal.windows.kaiser";
    if (!(beta >= 0))
      fail("InvalidArgument", where, `beta: expected a number from 0, got ${beta}.`);
    return kaiserOf(where, length, !sym, dtype, beta);
  },
);

/** Half a period of a sine. */
export const cosine = /* @__PURE__ */ compositeFactory<Window>(
  "signal.windows.cosine",
  kLine,
  (length: number, sym: boolean, dtype: DType | null) =>
    windowFrom("signal.windows.cosine", length, dtype, (sample) =>
      sin(mul(sub(sample, -0.5), Math.PI / spanOf(length, sym, 1))),
    ),
);

/** A bell of the standard deviation `std` (default 1), in samples. */
export const gaussian = /* @__PURE__ */ compositeFactory<Window<GaussianOptions>>(
  "signal.windows.gaussian",
  "M:int std:number=1 sym:bool=true dtype:dtype?=null",
  (length: number, std: number, sym: boolean, dtype: DType | null) => {
    const where = "signal.windows.gaussian";
    if (!(std > 0)) fail("InvalidArgument", where, `std: expected a number above 0, got ${std}.`);
    return windowFrom(where, length, dtype, (sample) =>
      exp(neg(square(div(sub(sample, spanOf(length, sym, 0) / 2), std * Math.SQRT2)))),
    );
  },
);

/** exp(-|n - center| / tau): `center` may be given if the window is not symmetric; `tau` is 1 by default. */
export const exponential = /* @__PURE__ */ compositeFactory<Window<ExponentialOptions>>(
  "signal.windows.exponential",
  "M:int center:number?=null tau:number=1 sym:bool=true dtype:dtype?=null",
  (length: number, center: number | null, tau: number, sym: boolean, dtype: DType | null) => {
    const where = "signal.windows.exponential";
    if (!(tau > 0)) fail("InvalidArgument", where, `tau: expected a number above 0, got ${tau}.`);
    if (sym && center !== null)
      fail("InvalidArgument", where, "center: a symmetric window has its own. Set sym: false.");
    const middle = center ?? spanOf(length, sym, 0) / 2;
    return windowFrom(where, length, dtype, (sample) =>
      exp(div(neg(abs(sub(sample, middle))), tau)),
    );
  },
);

// The number of samples, or of steps between them, of the symmetric window that this is, or is the beginning of.
function spanOf(length: number, sym: boolean, more: 0 | 1): number {
  return (sym || length === 1 ? length - 1 : length) + more;
}
