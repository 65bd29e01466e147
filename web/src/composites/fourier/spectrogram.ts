// Spectra of short pieces of a signal, and the signal of spectra.

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
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { inBatch, overlapAdd } from "../geometry.js";

type PadMode = "constant" | "reflect" | "replicate" | "circular";

interface FrameOptions {
  hopLength?: number | null;
  winLength?: number | null;
  window?: Tensor | null;
  center?: boolean;
  normalized?: boolean;
  onesided?: boolean | null;
}

interface StftOptions extends FrameOptions {
  padMode?: PadMode;
  returnComplex?: boolean | null;
}

interface Stft {
  (
    input: Tensor,
    nFft: number,
    hopLength?: number | null,
    winLength?: number | null,
    window?: Tensor | null,
    center?: boolean,
    padMode?: PadMode,
    normalized?: boolean,
    onesided?: boolean | null,
    returnComplex?: boolean | null,
  ): Tensor;
  (input: Tensor, nFft: number, options: StftOptions): Tensor;
  (
    input: Tensor,
    nFft: number,
    hopLength: number | null,
    options: Omit<StftOptions, "hopLength">,
  ): Tensor;
  (
    input: Tensor,
    nFft: number,
    hopLength: number | null,
    winLength: number | null,
    window: Tensor | null,
    options: Omit<StftOptions, "hopLength" | "winLength" | "window">,
  ): Tensor;
}

/**
 * Spectra of the pieces of `nFft` samples, `hopLength` apart (by default a quarter), that `window` fades: input [N, length] or
 * [length] gives [N, frequencies, pieces]. Real signals need `returnComplex`: true, or false for pairs of numbers.
 */
export const stft: Stft = /* @__PURE__ */ composite(
  "stft",
  "input:tensor nFft:int hopLength:int?=null winLength:int?=null window:tensor?=null center:bool=true padMode:choice(constant|reflect|replicate|circular)=reflect normalized:bool=false onesided:bool?=null returnComplex:bool?=null",
  (
    input: Tensor,
    nFft: number,
    hopLength: number | null,
    winLength: number | null,
    window: Tensor | null,
    center: boolean,
    padMode: PadMode,
    normalized: boolean,
    onesided: boolean | null,
    returnComplex: boolean | null,
  ) => {
    const isReal = !isComplex(input) && !(window !== null && isComplex(window));
    if (returnComplex === null && isReal) {
      const told =
        "stft requires the return_complex parameter be given for real inputs: returnComplex.";
      fail("InvalidArgument", "stft", told);
    }
    const isHalf = onesided ?? isReal;
    if (isHalf && !isReal) {
      fail("InvalidArgument", "stft", "Cannot have onesided output if window or input is complex.");
    }
    const frame = frameOf("stft", input, nFft, hopLength, winLength, window);
    return inBatch("stft", input, 2, (batch) => {
      const edge = Math.floor(nFft / 2);
      const signal = center ? pad(batch, [edge, edge], padMode) : batch;
      const length = signal.shape[1] ?? 0;
      if (nFft <= 0 || nFft > length) {
        fail("InvalidArgument", "stft", `expected 0 < n_fft <= ${length}, but got n_fft=${nFft}.`);
      }
      const pieces = mul(unfold(signal, 1, nFft, frame.hop), frame.window);
      const norm = normalized ? "ortho" : "backward";
      const spectra = (isHalf ? rfft : fft)(pieces, null, -1, norm);
      const result = transpose(spectra, 1, 2);
      return returnComplex === false ? viewAsReal(result) : result;
    });
  },
);

interface IstftOptions extends FrameOptions {
  length?: number | null;
  returnComplex?: boolean;
}

interface Istft {
  (
    input: Tensor,
    nFft: number,
    hopLength?: number | null,
    winLength?: number | null,
    window?: Tensor | null,
    center?: boolean,
    normalized?: boolean,
    onesided?: boolean | null,
    length?: number | null,
    returnComplex?: boolean,
  ): Tensor;
  (input: Tensor, nFft: number, options: IstftOptions): Tensor;
  (
    input: Tensor,
    nFft: number,
    hopLength: number | null,
    options: Omit<IstftOptions, "hopLength">,
  ): Tensor;
  (
    input: Tensor,
    nFft: number,
    hopLength: number | null,
    winLength: number | null,
    window: Tensor | null,
    options: Omit<IstftOptions, "hopLength" | "winLength" | "window">,
  ): Tensor;
}

/**
 * The signal, [N, length] or [length], that stft() with the same arguments gives these spectra for, or the nearest to it. It has
 * `length` samples, by default as many as the pieces cover.
 */
export const istft: Istft = /* @__PURE__ */ composite(
  "istft",
  "input:tensor nFft:int hopLength:int?=null winLength:int?=null window:tensor?=null center:bool=true normalized:bool=false onesided:bool?=null length:int?=null returnComplex:bool=false",
  (
    input: Tensor,
    nFft: number,
    hopLength: number | null,
    winLength: number | null,
    window: Tensor | null,
    center: boolean,
    normalized: boolean,
    onesided: boolean | null,
    length: number | null,
    returnComplex: boolean,
  ) => {
    if (!isComplex(input)) {
      fail(
        "DtypeMismatch",
        "istft",
        `istft requires a complex-valued input tensor, but got ${input.dtype}.`,
      );
    }
    const frame = frameOf("istft", input, nFft, hopLength, winLength, window);
    if (length !== null && length <= 0) {
      fail("InvalidArgument", "istft", `expected length > 0, but got length=${length}.`);
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

/** How pieces lie in a signal, and the window of each as long as a piece. */
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
    fail("InvalidArgument", caller, `expected hop_length > 0, but got hop_length=${hop}.`);
  }
  if (size <= 0 || size > nFft) {
    const told = `expected 0 < win_length <= n_fft=${nFft}, but got win_length=${size}.`;
    fail("InvalidArgument", caller, told);
  }
  if (window !== null && (window.ndim !== 1 || window.shape[0] !== size)) {
    const told = `expected a 1D window tensor of size equal to win_length=${size}`;
    fail(
      "ShapeMismatch",
      caller,
      `${told}, but got window with size [${window.shape.join(", ")}].`,
    );
  }
  const dtype = like.dtype === "complex128" || like.dtype === "float64" ? "float64" : "float32";
  const weights = window ?? ones([size], { dtype, device: like.device });
  const left = Math.floor((nFft - size) / 2);
  const isWhole = size === nFft;
  return { hop, window: isWhole ? weights : pad(weights, [left, nFft - size - left]) };
}

function checkSpectra(frequencies: number, expected: number): void {
  if (frequencies === expected) return;
  const told = `expected the frequency dimension (3rd to the last) of the input tensor to match n_fft: ${expected}`;
  fail("ShapeMismatch", "istft", `${told}, but got ${frequencies}.`);
}

function wholePieces(spectra: Tensor, isHalf: boolean, norm: "ortho" | "backward"): Tensor {
  if (!isHalf) return ifft(spectra, null, -1, norm);
  const told = "cannot have onesided input for a complex signal (returnComplex).";
  return fail("InvalidArgument", "istft", told);
}

// Pieces [N, pieces, samples] where they were, weighted once more, by the sum of the squared weights there.
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

// Where no window reaches there is no telling what the signal was. On a device nobody waits for the answer.
function checkCovered(weight: Tensor): void {
  if (weight.device !== "cpu" || weight.numel === 0) return;
  const least = Number(amin(abs(detach(weight))).item());
  if (least > 1e-11) return;
  fail(
    "InvalidArgument",
    "istft",
    `window overlap add min: ${least}: every sample has to be in a window.`,
  );
}
