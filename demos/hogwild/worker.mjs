// One worker of demos/hogwild.mjs.

import * as eg from "edgegrad";
import { loadDigits } from "../mnist/data.mjs";
import { makeModel, trainStep } from "../mnist/model.mjs";

const kBatch = 64;
let digits;

/** Takes `steps` steps on the shared parameters, with the digits in this worker's own order. */
export async function train(shared, { steps, seed }) {
  // Kept, because tensors made in this call are freed at its end.
  digits ??= eg.keep(loadDigits().train);
  const model = makeModel("mlp");
  model.loadStateDict(shared, { assign: true });
  const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.9 });
  const batches = new eg.data.DataLoader(digits, { batchSize: kBatch, shuffle: true, seed });
  let step = 0;
  while (step < steps) {
    for await (const batch of batches) {
      trainStep(model, optimizer, batch);
      if (++step === steps) return;
    }
  }
}
