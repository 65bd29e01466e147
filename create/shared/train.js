import { init, manualSeed, mseLoss, nn, optim, rand, scope } from 'edgegrad';

/** Learns to multiply two numbers; yields the loss after every tenth step. */
export async function* train(steps = 300) {
  await init();
  manualSeed(0);
  const x = rand([256, 2]);
  const y = x.prod(1, { keepdim: true });
  const model = new nn.Sequential(new nn.Linear(2, 32), new nn.Tanh(), new nn.Linear(32, 1));
  const optimizer = new optim.Adam(model.parameters(), { lr: 0.01 });

  for (let step = 1; step <= steps; step++) {
    // A scope frees the tensors of a step.
    const loss = scope(() => {
      const error = mseLoss(model.call(x), y);
      optimizer.zeroGrad();
      error.backward();
      optimizer.step();
      return Number(error.item());
    });
    if (step % 10 === 0) yield { step, loss };
  }
}
