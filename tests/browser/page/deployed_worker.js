// The worker of deployed.js.

import * as eg from "edgegrad";
import { kRate } from "./rate.js";

function train(weights, steps) {
  const optimizer = new eg.optim.SGD([weights], { lr: kRate });
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      optimizer.zeroGrad();
      weights.square().sum().backward();
      optimizer.step();
    });
  }
  return typeof document;
}

function fail() {
  throw new RangeError("in the worker");
}

eg.expose({ train, fail });
