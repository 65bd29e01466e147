// Weights as pictures in a grid.

import { kThemeChanged } from "../shared/frame.js";
import { signColors, signedImage } from "../shared/signed_image.js";

const kGap = 1;
// The weight with full color, in multiples of the average one. All pictures have the same scale, so that idle neurons are pale.
const kFull = 4;
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
    const colors = signColors();
    const usual = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
    for (let i = 0; i < count; i++) {
      const own = values.subarray(i * pixels, (i + 1) * pixels);
      const picture = signedImage(own, kFull * usual, colors);
      context.putImageData(picture, (i % columns) * pitch, Math.floor(i / columns) * pitch);
    }
  }
}
