// The script of a worker that tests/js/user_workers.test.mjs constructs.

import { threadId } from "node:worker_threads";
import * as eg from "edgegrad";
import * as jobs from "./thread_module.mjs";

eg.expose({ ...jobs, train, spawnHere, started });
eg.expose({ later: () => "exposed later" });

// A script that also runs outside workers may do this.
await eg.init();
const isStarted = eg.ones([2]).sum().item() === 2;

function started() {
  return isStarted;
}

function train(weights, steps) {
  const optimizer = new eg.optim.SGD([weights], { lr: 0.1 });
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      optimizer.zeroGrad();
      weights.square().sum().backward();
      optimizer.step();
    });
  }
  return threadId;
}

function spawnHere() {
  return eg.spawn(new URL("./thread_module.mjs", import.meta.url), "thread");
}
