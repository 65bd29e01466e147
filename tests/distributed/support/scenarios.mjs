// What the processes of a group do in the tests. Each function gets { group, options, tell, mayGoOn } and what the test gives besides, and
// returns plain values. `options` are those of the group; mayGoOn() resolves when the test lets the process go on.

import { createHash } from "node:crypto";
import * as eg from "edgegrad";
import {
  allGather,
  allReduce,
  barrier,
  broadcast,
  broadcastObject,
  DistributedDataParallel,
  DistributedSampler,
  initProcessGroup,
  reduceScatter,
} from "edgegrad/distributed";
import { until } from "../../support/until.mjs";
import { kSteps, makeModel, trainStep, wholeBatch } from "./task.mjs";

export const digestOf = (tensor) => createHash("sha256").update(tensor.dataSync()).digest("hex");
export const numbersOf = (tensor) => Array.from(tensor.dataSync(), Number);

/** The tensor of a rank, which every process can make. */
export function tensorOf(rank, { shape, dtype, hasNan }) {
  const generator = new eg.Generator(100 + rank);
  const values = eg.randn(shape, { generator });
  // A NaN of one rank is in the result of all reductions.
  if (hasNan) values.flatten().narrow(0, rank, 1).fill_(NaN);
  if (dtype.startsWith("complex")) return eg.complex(values, values.neg()).to(dtype);
  return dtype.includes("float") ? values.to(dtype) : values.mul(10).to(dtype);
}

// What one operation makes of a form { call, op, src, dtype, shape, isDigest }.
const kCalls = {
  allReduce: async (tensor, { op }) => [await allReduce(tensor, { op })],
  reduceScatter: async (tensor, { op }) => [await reduceScatter(tensor, { op })],
  broadcast: async (tensor, { src }) => [await broadcast(tensor, { src })],
  allGather: (tensor) => allGather(tensor),
};

/** Operations one after another; returns the tensors of each, or their digests. */
export async function calls({ group, tell, forms }) {
  const results = [];
  for (const form of forms) {
    tell(form.call);
    const tensors = await kCalls[form.call](tensorOf(group.rank, form), form);
    results.push(
      tensors.map((tensor) => {
        const { dtype, shape } = tensor;
        return form.isDigest ? digestOf(tensor) : { dtype, shape, values: numbersOf(tensor) };
      }),
    );
  }
  return results;
}

export async function sendObject({ group, src }) {
  const mine = { rank: group.rank, list: [1, "two", null], tensor: eg.tensor([group.rank, 0.5]) };
  const { rank, list, tensor } = await broadcastObject(mine, { src });
  return { rank, list, values: numbersOf(tensor) };
}

/** When a rank has come to a barrier and when it has passed it, by the clock of the machine. The last rank comes when it may. */
export async function meet({ group, options, tell, mayGoOn }) {
  const isLast = group.rank === group.worldSize - 1;
  if (isLast) await mayGoOn();
  const came = process.hrtime.bigint();
  const passed = barrier({ group }).then(() => process.hrtime.bigint());
  if (!isLast) {
    // The others form another group meanwhile: in that time, the same server would have let them pass.
    const { rank, worldSize, run } = options;
    const others = { ...options, rank, worldSize: worldSize - 1, run: `${run}-others` };
    const second = await initProcessGroup(others);
    await barrier({ group: second });
    await second.destroy();
    tell("waiting");
  }
  return { came: `${came}`, passed: `${await passed}` };
}

/** Several operations at once. */
export async function together({ group }) {
  const tensors = [1000, 3, 70_000].map((size) => eg.full([size], group.rank + 1));
  await Promise.all(tensors.map((tensor) => allReduce(tensor)));
  return tensors.map((tensor) => [tensor.min().item(), tensor.max().item()]);
}

/** Operations that differ between the ranks. */
export async function mismatch({ group, forms }) {
  const form = forms[group.rank];
  await kCalls[form.call](tensorOf(group.rank, form), form);
}

/** Trains with a part of each batch; returns the losses of the whole batches and the digest of the weights. */
export async function train({ group, tell, isAsync, bucketCapMb, kind, lr }) {
  const model = new DistributedDataParallel(makeModel(kind, 5 + group.rank), {
    ...(bucketCapMb && { bucketCapMb }),
  });
  const optimizer = new eg.optim.SGD(model.parameters(), { lr, momentum: 0.9 });
  const losses = [];
  for (let step = 0; step < kSteps; step++) {
    const [x, y] = wholeBatch(kind, step).map((one) => one.chunk(group.worldSize)[group.rank]);
    const loss = await trainStep(model, optimizer, x, y, isAsync);
    const mean = await allReduce(eg.tensor([loss], { dtype: "float64" }), { op: "mean" });
    losses.push(mean.item());
    tell(`step ${step}`);
  }
  const state = Object.values(model.stateDict()).map((one) => one.flatten().to("float64"));
  return { losses, digest: digestOf(eg.cat(state)), ...group.traffic };
}

/** Two backward calls of which only the second one averages, and a parameter that one rank does not use. */
export async function accumulate({ group }) {
  const layers = { first: new eg.nn.Linear(2, 2), second: new eg.nn.Linear(2, 2) };
  class Branches extends eg.nn.Module {
    constructor() {
      super();
      Object.assign(this, layers, { never: new eg.nn.Linear(2, 2) });
    }
    forward(x, isLong) {
      return isLong ? this.second.call(this.first.call(x)) : this.first.call(x);
    }
  }
  const model = new DistributedDataParallel(new Branches());
  const x = eg.full([1, 2], group.rank + 1);
  const isLong = group.rank === 0;
  model.noSync(() => model.call(x, isLong).sum().backward());
  const before = model.module.first.bias.grad.arraySync();
  model.call(x, false).sum().backward();
  const gradients = Object.fromEntries(
    [...model.module.namedParameters()].map(([name, { grad }]) => [
      name,
      grad?.arraySync() ?? null,
    ]),
  );
  return { before, gradients };
}

/** The running means of batch norm after forward passes with different data. */
export async function normalize({ group }) {
  const model = new DistributedDataParallel(new eg.nn.BatchNorm1d(2));
  for (let step = 0; step < 3; step++) model.call(eg.full([4, 2], group.rank + step));
  model.call(eg.full([4, 2], 7));
  return numbersOf(model.stateDict()["module.running_mean"]);
}

/** A backward call that fails on rank 0 after it has sent a part. */
export async function failInBackward({ group }) {
  const model = new DistributedDataParallel(makeModel("mlp", 1), { bucketCapMb: 1e-6 });
  const x = eg.ones([2, 8]);
  const [first] = model.parameters();
  if (group.rank === 0) {
    first.registerHook(() => {
      throw new Error("mine");
    });
  }
  try {
    model.call(x).sum().backward();
  } catch (error) {
    if (error.message !== "mine") throw error;
    try {
      model.call(x).sum().backward();
    } catch ({ message }) {
      return message;
    }
  }
}

/** The indices of a rank. */
export async function sample({ group }) {
  const sampler = new DistributedSampler({ length: 11 });
  sampler.setEpoch(1);
  return { rank: group.rank, indices: [...sampler], length: sampler.length };
}

/** Sums until something goes wrong. `isBlocking` does it in backward(). */
export async function sumForever({ tell, isBlocking }) {
  const model = isBlocking && new DistributedDataParallel(makeModel("mlp", 1));
  for (let i = 0; i < 1e6; i++) {
    if (isBlocking) {
      const sum = model.call(eg.ones([2, 8])).sum();
      sum.backward();
    } else {
      await allReduce(eg.ones([1000]));
    }
    if (i === 20) tell("summing");
  }
}

/** A sum for which rank 0 waits, while another rank begins its own when the group has ended. */
export async function sumLate({ group }) {
  if (group.rank !== 0) await until("end of the group", () => group.failure !== null);
  await allReduce(eg.ones([10]));
}

/** A sum of all, and another one for which rank 0 waits when the others have left. */
export async function sumAlone({ group }) {
  await allReduce(eg.ones([10]));
  if (group.rank === 0) await allReduce(eg.ones([10]));
}

/** A sum of rank 0 alone. */
export async function sumFirst({ group }) {
  if (group.rank === 0) await allReduce(eg.ones([10]));
}

/** A broadcast that rank 2 begins when it may. */
export async function receiveLate({ group, mayGoOn }) {
  if (group.rank === 2) await mayGoOn();
  return numbersOf(await broadcast(eg.full([3], group.rank + 1)));
}

/**
 * Trains in spite of lost ranks: whoever comes takes the state of a rank that was there before. After `lastStep` a rank does nothing more.
 * `sizes` are those of the group for five steps each, the last one until the end: a step waits until the group has its size.
 */
export async function trainElastic({
  group,
  tell,
  mayGoOn,
  steps,
  lr,
  lastStep,
  sizes: plan = [group.worldSize],
}) {
  const model = new DistributedDataParallel(makeModel("mlp", 5));
  const optimizer = new eg.optim.SGD(model.parameters(), { lr, momentum: 0.9 });
  let step = 0;
  // The ranks have the same weights by now.
  const restore = async () => {
    const mine = { step, optimizer: optimizer.stateDict() };
    const state = await broadcastObject(mine, { src: group.source });
    optimizer.loadStateDict(state.optimizer);
    step = state.step;
  };
  await restore();
  const losses = [];
  const sizes = [];
  let rejoins = 0;
  while (step < steps) {
    const size = plan[Math.min(Math.floor(step / 5), plan.length - 1)];
    try {
      if (step === lastStep) await mayGoOn();
      if (group.worldSize !== size) {
        await until(`group of ${size}`, () => group.failure !== null);
        throw group.failure;
      }
      const [x, y] = wholeBatch("mlp", step).map((one) => one.chunk(group.worldSize)[group.rank]);
      const loss = eg.crossEntropy(model.call(x), y);
      const mean = await allReduce(loss.detach().double(), { op: "mean" });
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      losses[step] = mean.item();
      sizes[step] = group.worldSize;
      step++;
      tell(`step ${step}`);
    } catch (error) {
      if (group.failure === null) throw error;
      await group.rejoin();
      rejoins++;
      model.broadcastState(group.source);
      await restore();
    }
  }
  const { rank, generation, source } = group;
  return { losses, sizes, rejoins, rank, generation, source };
}
