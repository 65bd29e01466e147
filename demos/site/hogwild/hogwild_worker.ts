// One of the workers: it shares the engine's memory, so the weights it is given are everybody's.

import * as eg from "edgegrad";
import { type Counters, takeStep } from "./counters.js";
import { type DigitTensors, Trainer } from "./model.js";

function train(
  weights: Record<string, eg.Tensor>,
  digits: DigitTensors,
  counters: Counters,
  total: number,
): void {
  const trainer = new Trainer(weights, digits);
  while (takeStep(counters, total)) trainer.step();
}

eg.expose({ train });
