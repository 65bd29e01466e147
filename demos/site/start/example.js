import * as eg from "edgegrad";

await eg.init();
const { variant, threads } = eg.runtime();
console.log(`threads: ${threads}, variant: ${variant}`);
eg.manualSeed(0);

const x = eg.linspace(-1, 1, 256).unsqueeze(1);
const y = x
  .mul(6)
  .sin()
  .add(eg.randn([256, 1]).mul(0.1));

const { Linear, Sequential, Tanh } = eg.nn;
const model = new Sequential(new Linear(1, 64), new Tanh(), new Linear(64, 1));
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.005 });

for (let step = 1; step <= 8000; step++) {
  eg.scope(() => {
    const loss = eg.mseLoss(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();

    plot(step, loss.item());
    if (step % 1000 === 0) console.log(step, loss.item());
  });
}
console.log(model);
