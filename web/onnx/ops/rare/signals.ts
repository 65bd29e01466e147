// Fourier transforms, windows and mel filters.

import * as eg from "edgegrad";
import { dtypeOf } from "../../values/types.js";
import { currentDevice, number, tensor, type Value } from "../../values/value.js";
import { axisOf, range } from "../axes.js";
import { typeAttribute } from "../creation.js";
import { flag, int, maybeInt, type Op, type Ops, op } from "../op.js";

// The last axis holds the real and the imaginary part, or only the real part.
function complexOf(x: eg.Tensor): eg.Tensor {
  if (x.shape.at(-1) === 2) return eg.viewAsComplex(x.contiguous());
  const real = eg.select(x, -1, 0);
  return eg.complex(real, eg.zerosLike(real));
}

function fourier(
  input: Value,
  length: number | undefined,
  axis: number,
  inverse: boolean,
  onesided: boolean,
): eg.Tensor {
  const x = tensor(input);
  const dim = axisOf(axis, x.ndim);
  const whole = complexOf(x);
  const n = length ?? (x.shape[dim] as number);
  if (inverse && onesided) return eg.fft.irfft(whole, n, dim).unsqueeze(-1);
  const result = inverse ? eg.fft.ifft(whole, n, dim) : eg.fft(whole, n, dim);
  return eg.viewAsReal(onesided ? eg.narrow(result, dim, 0, Math.floor(n / 2) + 1) : result);
}

function shortTime([signal, step, window, length]: readonly Value[], onesided: boolean): eg.Tensor {
  const x = tensor(signal);
  const shape = window === undefined ? undefined : tensor(window).shape[0];
  const size = number(length) ?? shape ?? 1;
  const wave = x.ndim === 2 ? x.unsqueeze(-1) : x;
  const source = wave.shape[2] === 2 ? eg.viewAsComplex(wave.contiguous()) : eg.select(wave, 2, 0);
  const frames = source.unfold(1, size, number(step) ?? 1);
  const weighted = window === undefined ? frames : frames.mul(tensor(window));
  const isReal = wave.shape[2] !== 2;
  if (isReal && onesided) return eg.viewAsReal(eg.fft.rfft(weighted, size, -1));
  const full = isReal ? eg.complex(weighted, eg.zerosLike(weighted)) : weighted;
  return eg.viewAsReal(eg.fft(full, size, -1));
}

/** A window that is a sum of cosines with these coefficients. */
function cosines(...factors: readonly number[]): Op {
  return op({
    since: 17,
    attributes: { output_datatype: maybeInt, periodic: flag(true) },
    settings: [0],
    ownTypes: true,
    run: ([size], { output_datatype, periodic }) => {
      const count = number(size) ?? 0;
      const period = periodic ? count : count - 1;
      const values = range(count).map((i) =>
        factors.reduce(
          (sum, factor, k) => sum + factor * Math.cos((2 * Math.PI * k * i) / period),
          0,
        ),
      );
      const dtype = dtypeOf(typeAttribute(output_datatype)) as eg.DType;
      return eg.tensor(Float64Array.from(values), { dtype, device: currentDevice() });
    },
  });
}

const melOf = (hertz: number) => 2595 * Math.log10(1 + hertz / 700);
const hertzOf = (mel: number) => 700 * (10 ** (mel / 2595) - 1);

// Triangular filters over the bins of a spectrum; each spans two adjacent intervals between edges.
function melWeights(
  bins: number,
  length: number,
  rate: number,
  low: number,
  high: number,
): number[][] {
  const count = Math.floor(length / 2) + 1;
  const [from, to] = [melOf(low), melOf(high)];
  const edges = range(bins + 2).map((i) => {
    const hertz = hertzOf(from + (i * (to - from)) / (bins + 2));
    return Math.floor(((length + 1) * hertz) / rate);
  });
  return range(count).map((k) =>
    range(bins).map((i) => {
      const [left, center, right] = edges.slice(i, i + 3) as [number, number, number];
      if (k === center) return 1;
      if (k >= left && k < center) return (k - left) / (center - left);
      return k >= center && k < right ? (right - k) / (right - center) : 0;
    }),
  );
}

export const kSignals: Ops = {
  DFT: op({
    since: 17,
    attributes: { axis: maybeInt, inverse: flag(false), onesided: flag(false) },
    settings: [1, 2],
    run: ([x, length, dim], { axis, inverse, onesided }, { version }) => {
      const along = number(dim) ?? axis ?? (version < 20 ? 1 : -2);
      return fourier(x, number(length), along, inverse, onesided);
    },
  }),
  STFT: op({
    since: 17,
    attributes: { onesided: flag(true) },
    settings: [1, 3],
    run: (inputs, { onesided }) => shortTime(inputs, onesided),
  }),
  HannWindow: cosines(0.5, -0.5),
  HammingWindow: cosines(25 / 46, -21 / 46),
  BlackmanWindow: cosines(0.42, -0.5, 0.08),
  MelWeightMatrix: op({
    since: 17,
    attributes: { output_datatype: int(1) },
    settings: [0, 1, 2, 3, 4],
    ownTypes: true,
    run: (inputs, { output_datatype }) => {
      const [bins, length, rate, low, high] = inputs.map((input) => number(input) ?? 0);
      const rows = melWeights(
        bins as number,
        length as number,
        rate as number,
        low as number,
        high as number,
      );
      return eg.tensor(rows, {
        dtype: dtypeOf(typeAttribute(output_datatype)) as eg.DType,
        device: currentDevice(),
      });
    },
  }),
};
