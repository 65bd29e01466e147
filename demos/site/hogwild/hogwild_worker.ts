// One of the workers. It shares the engine's memory, so it trains the same weights as the others.

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
