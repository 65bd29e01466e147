// What the network hears: a spectrogram on the scale of the ear, and numbers that hold whenever in the sound something happens.

import * as eg from "edgegrad";
import { kBands, kLength, kRate, type Samples } from "./sound.js";

const kWindow = 512;
const kHop = 256;
const kLowest = 80; // hertz
/** The power that is added before the logarithm: quieter than a quiet room. */
export const kFloor = 1e-4;
const kShift = 1600; // samples
const kNoise = 0.004;

/** Returns sounds as float32 [count, samples]. */
export function tensorOf(sounds: readonly Samples[]): eg.Tensor {
  const values = new Float32Array(sounds.length * kLength);
  for (const [i, sound] of sounds.entries()) values.set(sound, i * kLength);
  return eg.tensor(values, { shape: [sounds.length, kLength] });
}

/** Returns six variants of sounds, the sounds themselves first: all first ones, all second ones, and so on. */
export function variantsOf(sounds: eg.Tensor): eg.Tensor {
  const noise = eg.randn(sounds.shape).mul(kNoise);
  const variants = [
    sounds,
    sounds.roll(kShift, 1),
    sounds.roll(-kShift, 1),
    sounds.mul(0.6),
    sounds.mul(1.5),
    sounds.add(noise),
  ];
  return eg.cat(variants, 0);
}

/** Turns sounds into spectrograms and features. */
export class Ear extends eg.nn.Module {
  readonly window = new eg.nn.Buffer(eg.hannWindow(kWindow));
  readonly bands = new eg.nn.Buffer(bandsOfEar());

  /** The loudness of each band at each moment, from sounds [count, samples]: [count, 40, 41]. */
  spectrogram(sounds: eg.Tensor): eg.Tensor {
    const spectra = eg.stft(sounds, kWindow, {
      hopLength: kHop,
      window: this.window,
      returnComplex: true,
    });
    return this.bands.matmul(spectra.abs().square()).add(kFloor).log();
  }

  /** Of each band how loud it is on average and at most, how much it varies and changes, and the same of all bands by loudness: [count, 240]. */
  override forward(sounds: eg.Tensor): eg.Tensor {
    const loudness = this.spectrogram(sounds);
    const [mean, most] = [loudness.mean(2), loudness.amax(2)];
    const change = loudness.diff(1, -1).abs().mean(2);
    // A tone is a tone at any pitch.
    const ordered = [mean, most].map((one) => one.sort(1)[0] as eg.Tensor);
    return eg.cat([mean, most, loudness.std(2), change, ...ordered], 1);
  }
}

// Triangles around frequencies at equal distances on the mel scale, [40, 257]: people hear low tones more finely than high ones.
function bandsOfEar(): eg.Tensor {
  const mel = (hertz: number) => 2595 * Math.log10(1 + hertz / 700);
  const bins = kWindow / 2 + 1;
  const frequencies = eg.linspace(0, kRate / 2, bins);
  const pitch = frequencies.div(700).add(1).log10().mul(2595);
  const centers = eg.linspace(mel(kLowest), mel(kRate / 2), kBands + 2).narrow(0, 1, kBands);
  const width = (mel(kRate / 2) - mel(kLowest)) / (kBands + 1);
  const distance = pitch.unsqueeze(0).sub(centers.unsqueeze(1)).abs().div(width);
  return distance.neg().add(1).clamp(0);
}
