// What a run with FedAvg and full participation must come to, computed without any network.

import * as eg from "edgegrad";
import { meanOf } from "edgegrad/federated";
import { makeModel, numbersOf, pointsOf, trainSteps } from "./task.mjs";

/** The weights after some rounds of clients 0, 1..., whose names must sort in this order. */
export function referenceWeights({ clients, rounds, seed, steps, lr }) {
  eg.manualSeed(seed);
  const model = makeModel();
  const copy = (state) =>
    Object.fromEntries(Object.entries(state).map(([key, one]) => [key, one.detach().clone()]));
  let global = copy(model.stateDict());
  for (let round = 0; round < rounds; round++) {
    const updates = Array.from({ length: clients }, (_, client) => {
      model.loadStateDict(global);
      const points = pointsOf(client);
      trainSteps(model, points, steps, lr);
      return { client: `${client}`, samples: points[1].numel, weights: copy(model.stateDict()) };
    });
    global = eg.noGrad(() => meanOf(global, updates));
  }
  return numbersOf(global);
}
