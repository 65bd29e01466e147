// Softmax of rows, or its logarithm, and the gradient.

import { type Softmax, type SoftmaxBackward, SoftmaxKind } from "../../../generated/stream";
import type { Kernel } from "../kernel";
import { kMaximum, kSum } from "../lanes";
import { dispatchRows } from "./rows";

export const softmax: Kernel<Softmax> = {
  supported: { all: ["float32"] },

  play({ kind, rows, x, y }, commands): void {
    if (rows.size === 0) return;
    const isLog = kind === SoftmaxKind.Log;
    const result = isLog
      ? "load_x(at) - largest - log_sum"
      : "exp_f32(load_x(at) - largest) * scale";
    dispatchRows(commands, rows, {
      key: `softmax ${kind}`,
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      combine: { largest_of_lanes: kMaximum, sum_of_lanes: kSum },
      work: `${kRowSum}
  ${isLog ? "let log_sum = log_f32(sum);" : "let scale = 1f / sum;"}
  if (is_inside) {
    for (var k = lane; k < u.size; k += kLanes) {
      let at = first + k * u.inner;
      store_y(at, ${result});
    }
  }`,
    });
  },
};

/** Computes the largest element of a row, and the sum of exp(x - largest). */
export const kRowSum = `var largest = -infinity_f32();
  for (var k = lane; k < u.size; k += kLanes) {
    largest = maximum_f32(largest, load_x(first + k * u.inner));
  }
  largest = largest_of_lanes(thread, largest);
  var sum = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    sum += exp_f32(load_x(first + k * u.inner) - largest);
  }
  sum = sum_of_lanes(thread, sum);`;

export const softmaxBackward: Kernel<SoftmaxBackward> = {
  supported: { all: ["float32"] },

  play({ kind, rows, gradY: g, y, gradX }, commands): void {
    if (rows.size === 0) return;
    const isLog = kind === SoftmaxKind.Log;
    dispatchRows(commands, rows, {
      key: `softmax_backward ${kind}`,
      memory: [
        { name: "g", view: g, mode: "read" },
        { name: "y", view: y, mode: "read" },
        { name: "grad_x", view: gradX, mode: "write" },
      ],
      combine: { sum_of_lanes: kSum },
      work: `var sum = 0f;
  for (var k = lane; k < u.size; k += kLanes) {
    let at = first + k * u.inner;
    sum += ${isLog ? "load_g(at)" : "load_g(at) * load_y(at)"};
  }
  sum = sum_of_lanes(thread, sum);
  if (is_inside) {
    for (var k = lane; k < u.size; k += kLanes) {
      let at = first + k * u.inner;
      let g = load_g(at);
      let y = load_y(at);
      store_grad_x(at, ${isLog ? "g - exp_f32(y) * sum" : "y * (g - sum)"});
    }
  }`,
    });
  },
};
