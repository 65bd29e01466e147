// The initial program of the editor.

/** Trains a network on x * y, and plots the loss. */
export const kOwnCode = `import * as eg from 'edgegrad';

await eg.init();
const x = eg.rand([256, 2]);
const y = x.narrow(1, 0, 1).mul(x.narrow(1, 1, 1));
const { Sequential, Linear, Tanh } = eg.nn;
const model = new Sequential(new Linear(2, 32), new Tanh(), new Linear(32, 1));
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
for (let step = 0; step < 500; step++) {
  eg.scope(() => {
    const loss = eg.mseLoss(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    plot(step, loss.item());
  });
}
console.log('0.5 * 0.8 =', model.call(eg.tensor([[0.5, 0.8]])).item());
`;
