// The script of a worker that calls the engine without a pause, until it is terminated.

import * as eg from "edgegrad";

eg.expose({ trainForever, trainAndAwaitForever, exitInHook, exitInTurn, hooked });

function step(weights) {
  eg.scope(() => {
    const own = weights.detach().clone().requiresGrad_();
    const loss = own
      .mul(2)
      .matmul(eg.ones([4, 4]))
      .square()
      .sum();
    loss.backward();
    eg.scope(() => own.grad.add(1).sum().item());
  });
}

function trainForever(weights, runs) {
  eg.noGrad(() => runs.fill_(1));
  for (;;) step(weights);
}

async function trainAndAwaitForever(weights, runs) {
  eg.noGrad(() => runs.fill_(1));
  for (;;) {
    step(weights);
    await new Promise(setImmediate);
  }
}

/** Ends this thread in the middle of a backward call. */
function exitInHook(weights, runs) {
  eg.noGrad(() => runs.fill_(1));
  const y = weights.detach().requiresGrad_().mul(2);
  y.registerHook(() => process.exit(7));
  y.sum().backward();
}

/** Ends this thread between two calls of the engine. */
function exitInTurn(weights, runs) {
  eg.noGrad(() => runs.fill_(1));
  setImmediate(() => process.exit(7));
  return trainAndAwaitForever(weights, runs);
}

/** Returns twice x, with a hook of this thread that makes tensors and keeps what it gets. */
function hooked(x) {
  const kept = [];
  const y = x.mul(2);
  y.registerHook((g) => {
    kept.push(g);
    return g.mul(1);
  });
  return y;
}
