// One worker of demos/data_parallel.mjs.

import * as eg from "edgegrad";
import { loadDigits } from "../mnist/data.mjs";
import { lossOf, makeModel } from "../mnist/model.mjs";
import { meet } from "./barrier.mjs";

const kSettings = { lr: 0.05, momentum: 0.9 };

let digits;

/** Trains on this worker's share of each batch, and returns the losses. */
export function train({ weights, order, gradients, barrier }, { index, steps, batch }) {
  // Kept, because tensors made in this call are freed at its end.
  digits ??= eg.keep(loadDigits().train);
  const { count } = barrier;
  const model = makeModel("mlp");
  model.loadStateDict(weights, { assign: true });
  const parameters = [...model.parameters()];
  // Every worker averages the gradients of its share of the parameters, and updates these.
  const own = parameters.flatMap((parameter, i) =>
    i % count === index ? [{ parameter, gradients: gradients.map((all) => all[i]) }] : [],
  );
  const mine = own.map(({ parameter }) => parameter);
  const optimizer = mine.length > 0 ? new eg.optim.SGD(mine, kSettings) : null;
  const chosen = order.arraySync();
  const share = batch / count;

  return Array.from({ length: steps }, (_, step) => {
    const start = (step * batch + index * share) % (chosen.length - batch);
    const loss = eg.scope(() => {
      const loss = lossOf(model, digits.getBatch(chosen.slice(start, start + share)));
      for (const parameter of parameters) parameter.grad = null;
      loss.backward();
      for (const [i, { grad }] of parameters.entries()) gradients[index][i].copy_(grad);
      return loss.item();
    });
    meet(barrier); // Now all gradients have been computed …
    eg.scope(() => {
      for (const { parameter, gradients: parts } of own) parameter.grad = eg.stack(parts).mean(0);
      optimizer?.step();
    });
    meet(barrier); // … and now all weights have been updated.
    return loss;
  });
}
