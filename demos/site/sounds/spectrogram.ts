// Spectrograms as pictures: moments from left to right, low tones at the bottom, loud ones bright.

import { kBands, kMoments } from "./sound.js";

// From dark blue by purple and orange to white, in equal steps of loudness.
const kColors = [
  [13, 17, 48],
  [70, 30, 110],
  [170, 50, 95],
  [240, 130, 60],
  [255, 240, 210],
] as const;

/** Paints the loudness of each band at each moment, from 0 to 1. */
export function paintSpectrogram(canvas: HTMLCanvasElement, loudness: Float32Array): void {
  canvas.getContext("2d")?.putImageData(imageOf(loudness), 0, 0);
}

/** The same as a picture. */
export function pictureOf(loudness: Float32Array): Promise<ImageBitmap> {
  return createImageBitmap(imageOf(loudness));
}

function imageOf(loudness: Float32Array): ImageData {
  const image = new ImageData(kMoments, kBands);
  for (const [i, value] of loudness.entries()) {
    const [band, moment] = [Math.floor(i / kMoments), i % kMoments];
    const pixel = (kBands - 1 - band) * kMoments + moment;
    image.data.set([...colorOf(value), 255], 4 * pixel);
  }
  return image;
}

function colorOf(value: number): number[] {
  const at = value * (kColors.length - 1);
  const low = Math.min(Math.floor(at), kColors.length - 2);
  const [from, to] = [kColors[low], kColors[low + 1]] as [readonly number[], readonly number[]];
  return from.map((part, i) => part + (at - low) * ((to[i] ?? 0) - part));
}
