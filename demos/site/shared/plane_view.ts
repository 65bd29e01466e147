// The plane: the output of a network, or of one neuron, at every point, and the training points. y is from -1 to 1, and x as far as
// the canvas is wide.

import { color, kThemeChanged } from "./frame.js";
import { signColors, signedImage } from "./signed_image.js";

const kRadius = 5;
const kStrength = 1.4;

/** Points as x, y, x, y ..., and the class of each, 0 or 1. */
export interface Points {
  readonly positions: Float32Array;
  readonly classes: Float32Array;
}

export class PlaneView {
  readonly #canvas: HTMLCanvasElement;
  readonly #small = new OffscreenCanvas(1, 1);
  #colors = signColors();
  #edge = color("card");
  #points: Points | null = null;
  #tests: Points | null = null;
  #values: Float32Array | null = null;
  // How many values a row has.
  #width = 1;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    document.addEventListener(kThemeChanged, () => {
      this.#colors = signColors();
      this.#edge = color("card");
      this.#draw();
    });
  }

  /** Shows the training points, and the test points if they are not null. */
  showPoints(points: Points, tests: Points | null): void {
    this.#points = points;
    this.#tests = tests;
    this.#draw();
  }

  /** Shows values row by row; by default as many rows as columns. */
  showValues(values: Float32Array, width = Math.sqrt(values.length)): void {
    this.#values = values;
    this.#width = width;
    this.#draw();
  }

  /** Shows points and values at once. */
  show(points: Points, values: Float32Array, width: number): void {
    this.#points = points;
    this.showValues(values, width);
  }

  #draw(): void {
    const context = this.#canvas.getContext("2d") as CanvasRenderingContext2D;
    const { width, height } = this.#canvas;
    context.clearRect(0, 0, width, height);
    if (this.#values !== null) {
      this.#small.width = this.#width;
      this.#small.height = this.#values.length / this.#width;
      const small = this.#small.getContext("2d") as OffscreenCanvasRenderingContext2D;
      small.putImageData(signedImage(this.#values, kStrength, this.#colors, this.#width), 0, 0);
      context.imageSmoothingQuality = "high";
      context.drawImage(this.#small, 0, 0, width, height);
    }
    if (this.#tests !== null) this.#drawPoints(context, this.#tests, false);
    if (this.#points !== null) this.#drawPoints(context, this.#points, true);
  }

  // Draws points filled, or as rings.
  #drawPoints(context: CanvasRenderingContext2D, points: Points, isFilled: boolean): void {
    const { positions, classes } = points;
    const { positive, negative } = this.#colors;
    const { width, height } = this.#canvas;
    // A path for each class, because a path for each point takes most of a frame.
    for (const isPositive of [false, true]) {
      context.beginPath();
      for (let i = 0; i < classes.length; i++) {
        if ((classes[i] === 1) !== isPositive) continue;
        const x = width / 2 + ((positions[2 * i] as number) / 2) * height;
        const y = ((1 - (positions[2 * i + 1] as number)) / 2) * height;
        context.moveTo(x + kRadius, y);
        context.arc(x, y, kRadius, 0, 2 * Math.PI);
      }
      const own = `rgb(${(isPositive ? positive : negative).join(" ")})`;
      context.fillStyle = isFilled ? own : this.#edge;
      context.strokeStyle = isFilled ? this.#edge : own;
      context.lineWidth = isFilled ? 1.5 : 2.5;
      context.fill();
      context.stroke();
    }
  }
}
