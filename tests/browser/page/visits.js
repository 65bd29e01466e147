// Trains with the functions of the guide's "Keep a model across visits", and compares with both visits in one.

import * as eg from "edgegrad";
import { keepTraining, resumeTraining } from "./kept.js";

function makeTraining() {
  eg.manualSeed(1);
  const model = new eg.nn.Linear(4, 2);
  return { model, optimizer: new eg.optim.Adam(model.parameters(), { lr: 0.1 }) };
}

function train({ model, optimizer }, steps) {
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      optimizer.zeroGrad();
      model
        .call(eg.ones([1, 4]))
        .square()
        .sum()
        .backward();
      optimizer.step();
    });
  }
}

try {
  await eg.init({ threads: 1 });
  const training = makeTraining();
  const isKept = await resumeTraining("digits", training);
  train(training, 3);
  await keepTraining("digits", training);
  const whole = makeTraining();
  train(whole, 6);
  const isSame = eg.equal(whole.model.weight, training.model.weight);
  document.body.textContent = JSON.stringify({ isKept, isSame });
} catch (error) {
  document.body.textContent = JSON.stringify({ error: String(error) });
}
