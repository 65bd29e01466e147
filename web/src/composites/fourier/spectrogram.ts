// Spectra of short pieces of a signal, and the inverse.

import {
  abs,
  amin,
  detach,
  div,
  expand,
  fft,
  ifft,
  irfft,
  mul,
  narrow,
  ones,
  pad,
  reshape,
  rfft,
  square,
  transpose,
  unfold,
  viewAsReal,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { inBatch, overlapAdd } from "../geometry.js";

/**
 * The short-time Fourier transform: spectra of pieces of `nFft` samples at a distance of `hopLength` (by default nFft / 4),
 * weighted by `window`. Input [N, length] or [length] results in [N, frequencies, pieces]. Real signals need `returnComplex`:
 * true, or false for pairs of real numbers.
 */
export const stft = /* @__PURE__ */ composite(
  "stft",
  "input:tensor nFft:int hopLength:int?=null winLength:int?=null window:tensor?=null center:bool=true padMode:choice(constant|reflect|replicate|circular)=reflect normalized:bool=false onesided:bool?=null returnComplex:bool?=null",
  (
    input,
    nFft,
    hopLength,
    winLength,
    window,
    center,
    padMode,
    normalized,
    onesided,
    returnComplex,
  ) => {
    const isReal = !isComplex(input) && !(window !== null && isComplex(window));
    if (returnComplex === null && isReal) {
      const reason = "returnComplex: expected true or false for a real input, got neither.";
      fail("InvalidArgument", "stft", reason);
    }
    const isHalf = onesided ?? isReal;
    if (isHalf && !isReal) {
      fail("InvalidArgument", "stft", "onesided: expected false for a complex input or window.");
    }
    const frame = frameOf("stft", input, nFft, hopLength, winLength, window);
    return inBatch("stft", input, 2, (batch) => {
      const edge = Math.floor(nFft / 2);
      const signal = center ? pad(batch, [edge, edge], padMode) : batch;
      const length = signal.shape[1] ?? 0;
      if (nFft <= 0 || nFft > length) {
        fail(
          "InvalidArgument",
          "stft",
          `nFft: expected a number from 1 to the length, ${length}, got ${nFft}.`,
        );
      }
      const pieces = mul(unfold(signal, 1, nFft, frame.hop), frame.window);
      const norm = normalized ? "ortho" : "backward";
      const spectra = (isHalf ? rfft : fft)(pieces, null, -1, norm);
      const result = transpose(spectra, 1, 2);
      return returnComplex === false ? viewAsReal(result) : result;
    });
  },
);

/**
 * The inverse of stft() with the same arguments: the signal, [N, length] or [length], whose spectra are closest to `input`. It
 * has `length` samples, by default as many as the pieces cover.
 */
export const istft = /* @__PURE__ */ composite(
  "istft",
  "input:tensor nFft:int hopLength:int?=null winLength:int?=null window:tensor?=null center:bool=true normalized:bool=false onesided:bool?=null length:int?=null returnComplex:bool=false",
  (
    input,
    nFft,
    hopLength,
    winLength,
    window,
    center,
    normalized,
    onesided,
    length,
    returnComplex,
  ) => {
    if (!isComplex(input)) {
      fail("DtypeMismatch", "istft", `input: expected complex numbers, got ${input.dtype}.`);
    }
    const frame = frameOf("istft", input, nFft, hopLength, winLength, window);
    if (length !== null && length <= 0) {
      fail("InvalidArgument", "istft", `length: expected a number above 0, got ${length}.`);
    }
    const half = Math.floor(nFft / 2);
    return inBatch("istft", input, 3, (batch) => {
      const frequencies = batch.shape[1] ?? 0;
      const isHalf = onesided ?? frequencies !== nFft;
      checkSpectra(frequencies, isHalf ? half + 1 : nFft);
      const spectra = transpose(batch, 1, 2);
      const norm = normalized ? "ortho" : "backward";
      const pieces = returnComplex
        ? wholePieces(spectra, isHalf, norm)
        : irfft(isHalf ? spectra : narrow(spectra, 2, 0, half + 1), nFft, -1, norm);
      return signalOf(pieces, frame, center ? half : 0, length);
    });
  },
);

/** The arrangement of pieces in a signal, and their window, padded to the length of a piece. */
interface Frame {
  readonly hop: number;
  readonly window: Tensor;
}

function frameOf(
  caller: string,
  like: Tensor,
  nFft: number,
  hopLength: number | null,
  winLength: number | null,
  window: Tensor | null,
): Frame {
  const hop = hopLength ?? Math.floor(nFft / 4);
  const size = winLength ?? nFft;
  if (hop <= 0) {
    fail("InvalidArgument", caller, `hopLength: expected a number above 0, got ${hop}.`);
  }
  if (size <= 0 || size > nFft) {
    const reason = `winLength: expected a number from 1 to nFft, ${nFft}, got ${size}.`;
    fail("InvalidArgument", caller, reason);
  }
  if (window !== null && (window.ndim !== 1 || window.shape[0] !== size)) {
    const reason = `window: expected one dimension of winLength, ${size}, elements`;
    fail("ShapeMismatch", caller, `${reason}, got shape [${window.shape.join(", ")}].`);
  }
  const dtype = like.dtype === "complex128" || like.dtype === "float64" ? "float64" : "float32";
  const weights = window ?? ones([size], { dtype, device: like.device });
  const left = Math.floor((nFft - size) / 2);
  const isWhole = size === nFft;
  return { hop, window: isWhole ? weights : pad(weights, [left, nFft - size - left]) };
}

function checkSpectra(frequencies: number, expected: number): void {
  if (frequencies === expected) return;
  const reason = `input: expected ${expected} frequencies for this nFft`;
  fail("ShapeMismatch", "istft", `${reason}, got ${frequencies}.`);
}

function wholePieces(spectra: Tensor, isHalf: boolean, norm: "ortho" | "backward"): Tensor {
  if (!isHalf) return ifft(spectra, null, -1, norm);
  const reason = "onesided: expected false for a complex signal (returnComplex: true).";
  return fail("InvalidArgument", "istft", reason);
}

// Adds up pieces [N, pieces, samples] at their positions, weighted again, and divides by the sum of the squared weights.
function signalOf(pieces: Tensor, frame: Frame, start: number, length: number | null): Tensor {
  const { hop, window } = frame;
  const [size = 0, count = 0, samples = 0] = pieces.shape;
  const reach = samples + hop * (count - 1);
  const end = length === null ? reach - start : Math.min(start + length, reach);
  const sums = overlapAdd(mul(pieces, window), 1, reach, hop, 1);
  const weights = expand(reshape(square(window), [1, 1, samples]), [1, count, samples]);
  const weightSums = overlapAdd(weights, 1, reach, hop, 1);
  const kept = Math.max(end - start, 0);
  const weight = narrow(weightSums, 1, start, kept);
  checkCovered(weight);
  const signal = div(narrow(sums, 1, start, kept), weight);
  const missing = length === null ? 0 : length - kept;
  return missing > 0 ? pad(reshape(signal, [size, kept]), [0, missing]) : signal;
}

// The signal cannot be recovered where no window covers it. On other devices this is not checked, to avoid waiting for them.
function checkCovered(weight: Tensor): void {
  if (weight.device !== "cpu" || weight.numel === 0) return;
  const least = Number(amin(abs(detach(weight))).item());
  if (least > 1e-11) return;
  fail(
    "InvalidArgument",
    "istft",
    `window: every sample must be covered by a window, but the smallest sum of squared weights is ${least}.`,
  );
}
