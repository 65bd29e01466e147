// Weights as pictures in a grid: one colour for positive, another for negative, none for zero.

import { color, kThemeChanged } from "../shared/frame.js";

const kGap = 1;
const kColumns = 8;

export class WeightPictures {
  readonly #canvas: HTMLCanvasElement;
  #latest: { values: Float32Array; count: number } | null = null;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    canvas.width = 0;
    canvas.height = 0;
    document.addEventListener(kThemeChanged, () => this.#draw());
  }

  /** Shows `count` square pictures. */
  show(values: Float32Array, count: number): void {
    this.#latest = { values, count };
    this.#draw();
  }

  #draw(): void {
    if (this.#latest === null) return;
    const { values, count } = this.#latest;
    const pixels = values.length / count;
    const side = Math.sqrt(pixels);
    const columns = Math.min(kColumns, count);
    const pitch = side + kGap;
    this.#canvas.width = columns * pitch - kGap;
    this.#canvas.height = Math.ceil(count / columns) * pitch - kGap;
    this.#canvas.setAttribute("aria-label", `${count} pictures of ${side} by ${side} weights`);
    const context = this.#canvas.getContext("2d") as CanvasRenderingContext2D;
    const colors = [rgbOf("series-1"), rgbOf("series-2")] as const;
    for (let i = 0; i < count; i++) {
      const own = values.subarray(i * pixels, (i + 1) * pixels);
      const picture = pictureOf(own, side, colors);
      context.putImageData(picture, (i % columns) * pitch, Math.floor(i / columns) * pitch);
    }
  }
}

type Rgb = readonly number[];

function pictureOf(weights: Float32Array, side: number, [positive, negative]: readonly [Rgb, Rgb]) {
  const picture = new ImageData(side, side);
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-6);
  weights.forEach((weight, i) => {
    picture.data.set(weight > 0 ? positive : negative, 4 * i);
    picture.data[4 * i + 3] = 255 * Math.abs(weight / largest);
  });
  return picture;
}

function rgbOf(token: string): Rgb {
  return (color(token).match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
}
