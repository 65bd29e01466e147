// What paint() of a visitor's code shows: what a model says of every point of a plane, and the points that it learns.

import * as eg from "edgegrad";
import type { Painting } from "./code_messages.js";

// Values per row and column; y is from -1 to 1, and points have the same distance in both directions.
const kWidth = 64;
const kHeight = 48;

/** A model of points [count, 2], as a module or a function. */
export type Callable = { call(input: eg.Tensor): eg.Tensor } | ((input: eg.Tensor) => eg.Tensor);

let grid: eg.Tensor | null = null;

/** The outputs of a model, which are logits, on the plane; `points` are [count, 2] and `classes` 0 or 1. */
export function paintingOf(model: Callable, points: eg.Tensor, classes: eg.Tensor): Painting {
  grid ??= eg.keep(eg.tensor(gridPoints(), { shape: [kWidth * kHeight, 2] }));
  const plane = grid;
  return eg.scope(() =>
    eg.noGrad(() => {
      const scores = typeof model === "function" ? model(plane) : model.call(plane);
      return {
        values: scores.flatten().div(2).tanh().dataSync().slice() as Float32Array,
        width: kWidth,
        positions: points.detach().flatten().dataSync().slice() as Float32Array,
        classes: classes.detach().flatten().dataSync().slice() as Float32Array,
      };
    }),
  );
}

function gridPoints(): Float32Array {
  const points = new Float32Array(2 * kWidth * kHeight);
  for (let i = 0; i < kWidth * kHeight; i++) {
    const [column, row] = [i % kWidth, Math.floor(i / kWidth)];
    points[2 * i] = ((2 * (column + 0.5)) / kWidth - 1) * (kWidth / kHeight);
    points[2 * i + 1] = 1 - (2 * (row + 0.5)) / kHeight;
  }
  return points;
}
