// The weights between two layers as lines: the color shows the sign, the width shows the magnitude.

import type { SignColors } from "../shared/signed_image.js";

const kWidest = 5;

interface Spot {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** Draws the lines between the columns of units, on a canvas behind `element`. */
export function drawLines(
  canvas: HTMLCanvasElement,
  element: HTMLElement,
  columns: readonly (readonly HTMLElement[])[],
  weights: readonly Float32Array[],
  colors: SignColors,
): void {
  const scale = devicePixelRatio;
  const { scrollWidth: width, scrollHeight: height } = element;
  if (canvas.width !== width * scale || canvas.height !== height * scale) {
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = `${width}px`;
  }
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const spots = columns.map((column) => column.map(spotOf));
  weights.forEach((layer, i) => {
    const [from, to] = [spots[i] ?? [], spots[i + 1] ?? []];
    to.forEach((end, row) => {
      from.forEach((start, column) => {
        drawLine(context, start, end, layer[row * from.length + column] ?? 0, colors);
      });
    });
  });
}

function drawLine(
  context: CanvasRenderingContext2D,
  { right, y: startY }: Spot,
  { left, y: endY }: Spot,
  weight: number,
  { positive, negative }: SignColors,
): void {
  const size = Math.tanh(Math.abs(weight));
  const middle = (right + left) / 2;
  context.strokeStyle = `rgb(${(weight > 0 ? positive : negative).join(" ")} / ${0.15 + 0.7 * size})`;
  context.lineWidth = 0.5 + kWidest * size;
  context.beginPath();
  context.moveTo(right, startY);
  context.bezierCurveTo(middle, startY, middle, endY, left, endY);
  context.stroke();
}

function spotOf({ offsetLeft, offsetTop, offsetWidth, offsetHeight }: HTMLElement): Spot {
  return { left: offsetLeft, right: offsetLeft + offsetWidth, y: offsetTop + offsetHeight / 2 };
}
