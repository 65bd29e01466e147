// Numbers as a picture: one color for positive numbers, another for negative ones, and transparent for zero.

import { color } from "./frame.js";

type Rgb = readonly number[];

/** The two colors in the current theme; get them again after it has changed. */
export interface SignColors {
  readonly positive: Rgb;
  readonly negative: Rgb;
}

export function signColors(): SignColors {
  return { positive: rgbOf("series-1"), negative: rgbOf("series-2") };
}

/** A picture of numbers, row by row and by default square; numbers with a magnitude of `full` or more have the full color. */
export function signedImage(
  values: Float32Array,
  full: number,
  colors: SignColors,
  width = Math.sqrt(values.length),
): ImageData {
  const picture = new ImageData(width, values.length / width);
  // Written as whole pixels: pages draw dozens of such pictures in each frame.
  const pixels = new Uint32Array(picture.data.buffer);
  const [positive, negative] = [pixelOf(colors.positive), pixelOf(colors.negative)];
  const scale = 255 / full;
  for (let i = 0; i < pixels.length; i++) {
    const value = (values[i] as number) * scale;
    const strength = Math.min(255, Math.abs(value));
    pixels[i] = (value > 0 ? positive : negative) | (strength << 24);
  }
  return picture;
}

// A pixel without its alpha, in the little-endian byte order of all machines that run browsers.
function pixelOf([red = 0, green = 0, blue = 0]: Rgb): number {
  return red | (green << 8) | (blue << 16);
}

function rgbOf(token: string): Rgb {
  return (color(token).match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}
