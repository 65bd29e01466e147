// The plane: the output of the network, or of one neuron, at every point, and the training points.

import { color, kThemeChanged } from "../shared/frame.js";
import { signColors, signedImage } from "../shared/signed_image.js";
import type { Points } from "./datasets.js";
import { kGrid } from "./settings.js";

const kRadius = 5;
const kStrength = 1.4;

export class PlaneView {
  readonly #canvas: HTMLCanvasElement;
  readonly #small = new OffscreenCanvas(kGrid, kGrid);
  #colors = signColors();
  #edge = color("card");
  #points: Points | null = null;
  #tests: Points | null = null;
  #values: Float32Array | null = null;

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

  /** Shows values on the grid. */
  showValues(values: Float32Array): void {
    this.#values = values;
    this.#draw();
  }

  #draw(): void {
    const context = this.#canvas.getContext("2d") as CanvasRenderingContext2D;
    const { width, height } = this.#canvas;
    context.clearRect(0, 0, width, height);
    if (this.#values !== null) {
      const small = this.#small.getContext("2d") as OffscreenCanvasRenderingContext2D;
      small.putImageData(signedImage(this.#values, kStrength, this.#colors), 0, 0);
      context.drawImage(this.#small, 0, 0, width, height);
    }
    if (this.#tests !== null) this.#drawPoints(context, this.#tests, false);
    if (this.#points !== null) this.#drawPoints(context, this.#points, true);
  }

  // Draws points filled, or as rings.
  #drawPoints(context: CanvasRenderingContext2D, points: Points, isFilled: boolean): void {
    const { positions, classes } = points;
    const { positive, negative } = this.#colors;
    for (let i = 0; i < classes.length; i++) {
      const x = (((positions[2 * i] as number) + 1) / 2) * this.#canvas.width;
      const y = ((1 - (positions[2 * i + 1] as number)) / 2) * this.#canvas.height;
      const own = `rgb(${(classes[i] === 1 ? positive : negative).join(" ")})`;
      context.beginPath();
      context.arc(x, y, kRadius, 0, 2 * Math.PI);
      context.fillStyle = isFilled ? own : this.#edge;
      context.strokeStyle = isFilled ? this.#edge : own;
      context.lineWidth = isFilled ? 1.5 : 2.5;
      context.fill();
      context.stroke();
    }
  }
}
