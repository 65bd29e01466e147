import * as eg from "edgegrad/single";

/** Answers what training has come to. */
async function train(wasmModule) {
  await eg.init({ wasmModule });
  eg.manualSeed(1);
  const model = new eg.nn.Linear(8, 1);
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.1 });
  const [x, y] = [eg.randn([32, 8]), eg.zeros([32, 1])];
  const losses = [];
  for (let step = 0; step < 20; step++) {
    const loss = eg.mseLoss(model.call(x), y);
    optimizer.zeroGrad();
    if (step % 2 === 0) loss.backward();
    else await loss.backwardAsync();
    optimizer.step();
    losses.push(loss.item());
  }
  let error;
  try {
    x.matmul(x);
  } catch ({ code }) {
    error = code;
  }
  return { variant: eg.runtime().variant, trained: losses.at(-1) < losses[0] / 2, error };
}

class Trainer extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    train(processorOptions.wasmModule).then(
      (result) => this.port.postMessage(result),
      (error) => this.port.postMessage({ error: `${error.code}: ${error.stack}` }),
    );
  }

  process() {
    return true;
  }
}

registerProcessor("trainer", Trainer);
