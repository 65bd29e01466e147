// Matrix factorization with tables of a million rows: a step touches only the rows of its batch, because their gradients are
// sparse. Every user likes the items whose number has the same remainder.

import * as eg from "edgegrad";
import { stepsWanted, tell } from "./support/steps.mjs";

const kUsers = 1_000_000;
const kItems = 1000;
const kKinds = 4;
const kSize = 16;
const kBatch = 512;
// So few users come back that each is seen several times.
const kActive = 1000;

class Recommender extends eg.nn.Module {
  users = new eg.nn.Embedding(kUsers, kSize, { sparse: true });
  items = new eg.nn.Embedding(kItems, kSize, { sparse: true });

  constructor() {
    super();
    for (const table of [this.users, this.items]) eg.nn.init.normal_(table.weight, 0, 0.1);
  }

  forward(users, items) {
    return this.users.call(users).mul(this.items.call(items)).sum(1);
  }
}

const steps = stepsWanted(300);
await eg.init();
eg.manualSeed(0);
const model = new Recommender();
const optimizer = new eg.optim.SparseAdam(model.parameters(), { lr: 0.05 });

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const users = eg.randint(0, kActive, [kBatch]).mul(kUsers / kActive);
    const items = eg.randint(0, kItems, [kBatch]);
    const likes = users
      .div(kUsers / kActive)
      .remainder(kKinds)
      .eq(items.remainder(kKinds));
    const scores = model.call(users.to("int64"), items);
    const loss = eg.binaryCrossEntropyWithLogits(scores, likes.to("float32"));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    const right = scores.gt(0).eq(likes).to("float32").mean();
    tell(step, steps, { loss: loss.item(), right: right.item() });
  });
}
