// The optimizers of the domain ai.onnx.preview.training, which compute new values of parameters.

import * as eg from "edgegrad";
import { number, tensor, type Value } from "../values/value.js";
import { range } from "./axes.js";
import { float, type Ops, op, string } from "./op.js";

/** Groups the inputs after rate and step by kind; each group has one tensor per parameter. */
function groups(inputs: readonly Value[], kinds: number): eg.Tensor[][] {
  const rest = inputs.slice(2).map(tensor);
  const count = rest.length / kinds;
  return range(kinds).map((i) => rest.slice(i * count, (i + 1) * count));
}

/** Runs an update for each parameter, and returns the results grouped by kind. */
function updateAll(
  lists: readonly eg.Tensor[][],
  update: (...values: eg.Tensor[]) => eg.Tensor[],
): eg.Tensor[] {
  const results = (lists[0] ?? []).map((_, i) =>
    update(...lists.map((list) => list[i] as eg.Tensor)),
  );
  return range(results[0]?.length ?? 0).flatMap((kind) =>
    results.map((result) => result[kind] as eg.Tensor),
  );
}

const regularized = (gradient: eg.Tensor, x: eg.Tensor, factor: number) =>
  gradient.add(x.mul(factor));

export const kTraining: Ops = {
  Adagrad: op({
    attributes: { decay_factor: float(0), epsilon: float(1e-6), norm_coefficient: float(0) },
    settings: [0, 1],
    run: (inputs, { decay_factor, epsilon, norm_coefficient }) => {
      const rate = (number(inputs[0]) ?? 0) / (1 + (number(inputs[1]) ?? 0) * decay_factor);
      return updateAll(groups(inputs, 3), (x, gradient, squares) => {
        const g = regularized(gradient as eg.Tensor, x as eg.Tensor, norm_coefficient);
        const sum = (squares as eg.Tensor).add(g.square());
        return [(x as eg.Tensor).sub(g.mul(rate).div(eg.sqrt(sum).add(epsilon))), sum];
      });
    },
  }),
  Adam: op({
    attributes: {
      alpha: float(0.9),
      beta: float(0.999),
      epsilon: float(1e-6),
      norm_coefficient: float(0),
      norm_coefficient_post: float(0),
    },
    settings: [0, 1],
    run: (inputs, { alpha, beta, epsilon, norm_coefficient, norm_coefficient_post }) => {
      const step = number(inputs[1]) ?? 0;
      const correction = step > 0 ? Math.sqrt(1 - beta ** step) / (1 - alpha ** step) : 1;
      const rate = (number(inputs[0]) ?? 0) * correction;
      return updateAll(groups(inputs, 4), (x, gradient, mean, squares) => {
        const g = regularized(gradient as eg.Tensor, x as eg.Tensor, norm_coefficient);
        const first = (mean as eg.Tensor).mul(alpha).add(g.mul(1 - alpha));
        const second = (squares as eg.Tensor).mul(beta).add(g.square().mul(1 - beta));
        const next = (x as eg.Tensor).sub(first.mul(rate).div(eg.sqrt(second).add(epsilon)));
        return [next.mul(1 - norm_coefficient_post), first, second];
      });
    },
  }),
  Momentum: op({
    attributes: {
      alpha: float(0),
      beta: float(0),
      mode: string("standard"),
      norm_coefficient: float(0),
    },
    settings: [0, 1],
    run: (inputs, { alpha, beta, mode, norm_coefficient }) => {
      const rate = number(inputs[0]) ?? 0;
      const share = (number(inputs[1]) ?? 0) > 0 ? beta : 1;
      return updateAll(groups(inputs, 3), (x, gradient, momentum) => {
        const g = regularized(gradient as eg.Tensor, x as eg.Tensor, norm_coefficient);
        const next = (momentum as eg.Tensor).mul(alpha).add(g.mul(share));
        const direction = mode === "nesterov" ? g.add(next.mul(alpha)) : next;
        return [(x as eg.Tensor).sub(direction.mul(rate)), next];
      });
    },
  }),
};
