// Fourier transforms over several axes, one after the other, and transforms of signals whose spectrum is real.

import type { Ints } from "../../dispatch/types.js";
import { conj, fft, ifft, irfft, rfft } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { axisOf } from "../shapes.js";

type Norm = "backward" | "ortho" | "forward";

/** A transform along one axis. */
type Step = (input: Tensor, n: number | null, dim: number, norm: Norm) => Tensor;

/** Fourier transform over the axes `dim`: by default the last ones, one per size in `s`, or all of them. */
export const fftn = /* @__PURE__ */ overAxes("fftn", null, null, fft);

/** The inverse of fftn(). */
export const ifftn: typeof fftn = /* @__PURE__ */ overAxes("ifftn", null, null, ifft);

/** fftn() of real numbers, without the redundant second half along the last of the axes. */
export const rfftn: typeof fftn = /* @__PURE__ */ overAxes("rfftn", null, "first", fft, rfft);

/** The inverse of rfftn(): the last of the sizes `s` is by default 2 (size - 1). */
export const irfftn: typeof fftn = /* @__PURE__ */ overAxes("irfftn", null, "last", ifft, irfft);

/** fftn() of a signal that is Hermitian along the last of the axes, given by its first half; the result is real. */
export const hfftn: typeof fftn = /* @__PURE__ */ overAxes("hfftn", null, "last", fft, hermitian);

/** The inverse of hfftn(). */
export const ihfftn: typeof fftn = /* @__PURE__ */ overAxes("ihfftn", null, "first", ifft, halfOf);

const kLastTwo = "[-2,-1]";

/** Fourier transform over two axes, by default the last ones. */
export const fft2: typeof fftn = /* @__PURE__ */ overAxes("fft2", kLastTwo, null, fft);

/** The inverse of fft2(). */
export const ifft2: typeof fftn = /* @__PURE__ */ overAxes("ifft2", kLastTwo, null, ifft);

/** fft2() of real numbers, without the redundant second half along the last axis. */
export const rfft2: typeof fftn = /* @__PURE__ */ overAxes("rfft2", kLastTwo, "first", fft, rfft);

/** The inverse of rfft2(): the last of the sizes `s` is by default 2 (size - 1). */
export const irfft2: typeof fftn = /* @__PURE__ */ overAxes(
  "irfft2",
  kLastTwo,
  "last",
  ifft,
  irfft,
);

/** fft2() of a signal that is Hermitian along the last axis, given by its first half; the result is real. */
export const hfft2: typeof fftn = /* @__PURE__ */ overAxes(
  "hfft2",
  kLastTwo,
  "last",
  fft,
  hermitian,
);

/** The inverse of hfft2(). */
export const ihfft2: typeof fftn = /* @__PURE__ */ overAxes(
  "ihfft2",
  kLastTwo,
  "first",
  ifft,
  halfOf,
);

const kLine = "input:tensor n:int?=null dim:int=-1 norm:choice(backward|ortho|forward)=backward";

/** Fourier transform of a Hermitian signal, given by its first half: `n` real numbers, by default 2 (size - 1). */
export const hfft = /* @__PURE__ */ composite("hfft", kLine, hermitian);

/** The inverse of hfft(): the first half of the Hermitian signal whose transform is `input`. */
export const ihfft: typeof hfft = /* @__PURE__ */ composite("ihfft", kLine, halfOf);

// A transform that runs `step` along all axes but the last, and `lastStep` along the last, before or after the others.
function overAxes(
  name: string,
  defaultDim: string | null,
  order: "first" | "last" | null,
  step: Step,
  lastStep: Step = step,
) {
  const line =
    `input:tensor s:ints?=null dim:ints?=${defaultDim} norm:choice(backward|ortho|forward)=backward` as const;
  return composite(name, line, (input, s, dim, norm) => {
    const axes = axesOf(name, input, s, dim);
    const final = axes.pop();
    if (final === undefined) {
      if (order === null) return input;
      return fail("InvalidArgument", name, "dim: expected at least one dimension.");
    }
    const along = (x: Tensor, does: Step, { axis, size }: Axis) => does(x, size, axis, norm);
    const started = order === "first" ? along(input, lastStep, final) : input;
    const others = axes.reduce((x, axis) => along(x, step, axis), started);
    return order === "first" ? others : along(others, lastStep, final);
  });
}

/** An axis to transform, and the size to which it is cropped or padded. */
interface Axis {
  readonly axis: number;
  readonly size: number | null;
}

function axesOf(name: string, input: Tensor, s: Ints | null, dims: Ints | null): Axis[] {
  const sizes = s === null ? null : typeof s === "number" ? [s] : [...s];
  const chosen = dims === null ? lastAxes(name, input, sizes) : dims;
  const axes = (typeof chosen === "number" ? [chosen] : chosen).map((d) =>
    axisOf(name, d, input.ndim),
  );
  if (new Set(axes).size < axes.length) {
    fail("InvalidArgument", name, "dim: expected different dimensions.");
  }
  if (sizes !== null && sizes.length !== axes.length) {
    const reason = `s: expected one size per dimension, ${axes.length}`;
    fail("InvalidArgument", name, `${reason}, got [${sizes.join(", ")}].`);
  }
  // As in PyTorch, -1 keeps the size.
  return axes.map((axis, i) => ({
    axis,
    size: sizes === null || sizes[i] === -1 ? null : (sizes[i] ?? null),
  }));
}

function lastAxes(name: string, { ndim }: Tensor, sizes: readonly number[] | null): number[] {
  const count = sizes === null ? ndim : sizes.length;
  if (count > ndim) {
    const reason = `s: expected at most ${ndim} sizes for this input, got ${count}.`;
    fail("InvalidArgument", name, reason);
  }
  return Array.from({ length: count }, (_, i) => ndim - count + i);
}

function hermitian(input: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return irfft(conj(input), n, dim, opposite(norm));
}

function halfOf(input: Tensor, n: number | null, dim: number, norm: Norm): Tensor {
  return conj(rfft(input, n, dim, opposite(norm)));
}

// The normalization that scales the other direction.
function opposite(norm: Norm): Norm {
  if (norm === "ortho") return norm;
  return norm === "backward" ? "forward" : "backward";
}
