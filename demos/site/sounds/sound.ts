// A sound as the page records it and the network hears it.

/** The samples per second. */
export const kRate = 16_000;

/** The samples of a sound: 0.64 seconds, a little less than what browsers keep of a signal. */
export const kLength = 10_240;

/** The bands of a spectrogram, and its moments. */
export const kBands = 40;
export const kMoments = 41;

/** Samples from -1 to 1. */
export type Samples = Float32Array<ArrayBuffer>;

/** Returns the last samples of a signal of any rate at the rate of sounds; a shorter one begins with silence. */
export function resampled(signal: Float32Array, rate: number): Samples {
  const sound = new Float32Array(kLength);
  const ratio = rate / kRate;
  const start = signal.length - kLength * ratio;
  for (let i = 0; i < kLength; i++) {
    const [from, to] = [Math.ceil(start + i * ratio), Math.ceil(start + (i + 1) * ratio)];
    if (from < 0) continue;
    let sum = 0;
    for (let at = from; at < to; at++) sum += signal[at] ?? 0;
    sound[i] = sum / Math.max(1, to - from);
  }
  return sound;
}

// Sounds that are this much weaker than the loudest one of a recording are pauses.
const kPause = 1 / 30;

/**
 * Chooses the sounds of a recording among pieces that overlap, of which each begins `hop` samples after the one before: the loudest ones, with
 * the loudest part in the middle, that do not overlap by more than a quarter.
 */
export function chosen(pieces: readonly Samples[], hop: number): Samples[] {
  const ranked = pieces
    .map((samples, at) => ({ samples, at, power: powerInMiddle(samples) }))
    .sort((a, b) => b.power - a.power);
  const least = kPause * (ranked[0]?.power ?? 0);
  const taken: typeof ranked = [];
  for (const piece of ranked) {
    const isFree = taken.every(({ at }) => Math.abs(at - piece.at) * hop >= 0.75 * kLength);
    if (piece.power >= least && isFree) taken.push(piece);
  }
  return taken.sort((a, b) => a.at - b.at).map(({ samples }) => samples);
}

function powerInMiddle(samples: Samples): number {
  let sum = 0;
  for (const [i, sample] of samples.entries())
    sum += sample * sample * Math.sin((Math.PI * i) / samples.length) ** 2;
  return sum;
}
