// What the components of this folder train: a small network that learns XOR.

import * as eg from "edgegrad";

/** Starts a training; whoever starts it ends it with dispose(). */
export async function startTraining() {
  await eg.init();
  const x = eg
    .tensor([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ])
    .float();
  const y = eg.tensor([[0], [1], [1], [0]]).float();
  const model = new eg.nn.Sequential(
    new eg.nn.Linear(2, 8),
    new eg.nn.Tanh(),
    new eg.nn.Linear(8, 1),
  );
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.05 });

  /** Takes a step, and lets the page draw meanwhile; resolves to the loss. */
  function step() {
    return eg.scope(async () => {
      const loss = eg.mseLoss(model.call(x), y);
      optimizer.zeroGrad();
      await loss.backwardAsync();
      optimizer.step();
      return loss.item();
    });
  }

  let current = Promise.resolve();
  /** Calls `onLoss` after each of some steps, until the signal is given. */
  async function run({ steps = 200, signal, onLoss }) {
    for (let i = 0; i < steps && !signal.aborted; i++) {
      current = step();
      onLoss(await current);
    }
  }

  /** Frees what the training holds, after the step that is being taken. */
  async function dispose() {
    await current;
    optimizer.zeroGrad();
    const { state } = optimizer;
    const held = [x, y, ...model.parameters(), ...[...state.values()].flatMap(Object.values)];
    for (const one of held) if (one instanceof eg.Tensor) one.dispose();
  }

  return { run, dispose };
}
