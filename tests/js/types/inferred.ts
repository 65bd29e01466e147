// Types that the compiler infers: batches, and the optimizers and schedulers of a program. tests/js/project/types.test.mjs only compiles
// this file.

import * as eg from "edgegrad";

type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Is an error unless the types are the same. */
function same<A, B>(...isTrue: Is<A, B> extends true ? [] : [different: never]): void {
  console.log(isTrue);
}

const x = eg.ones([2]);
const { DataLoader, TensorDataset } = eg.data;

// What a batch is made of.
type Batch<Sample> = eg.data.Collated<Sample>;
same<Batch<number>, eg.Tensor>();
same<Batch<boolean>, eg.Tensor>();
same<Batch<string>, string[]>();
same<Batch<"a" | "b">, ("a" | "b")[]>();
same<Batch<[eg.Tensor, number, string]>, [eg.Tensor, eg.Tensor, string[]]>();
same<Batch<number[]>, eg.Tensor[]>();
same<Batch<Map<string, number>>, Map<string, eg.Tensor>>();
same<Batch<eg.nn.Parameter>, eg.Tensor>();
same<Batch<unknown>, unknown>();
type Sample = { x: Float32Array; readonly y: number; name: string };
same<Batch<Sample>, { x: eg.Tensor; y: eg.Tensor; name: string[] }>();

// A batch of an array, of tensors, of a program's own dataset and of a generator.
for await (const batch of new DataLoader([{ x: [1, 2], name: "a" }], { batchSize: 2 })) {
  same<typeof batch, { x: eg.Tensor[]; name: string[] }>();
}
for await (const [a, b] of new DataLoader(new TensorDataset(x, x), { batchSize: 2 })) {
  eg.mseLoss(a, b);
}
// @ts-expect-error: there are two tensors
for await (const [, , third] of new DataLoader(new TensorDataset(x, x), 2)) console.log(third);
class Own implements eg.data.Dataset<{ x: Float32Array; y: number }> {
  readonly length = 3;
  async get(i: number) {
    return { x: new Float32Array(3), y: i };
  }
}
for await (const batch of new DataLoader(new Own(), 2)) {
  same<typeof batch, { x: eg.Tensor; y: eg.Tensor }>();
}
async function* stream() {
  yield { t: x, n: 1 };
}
for await (const batch of new DataLoader(stream(), 2)) {
  same<typeof batch, { t: eg.Tensor; n: eg.Tensor }>();
}
const batched = { length: 3, get: (i: number) => i, getBatch: () => ({ all: 3 }) };
for await (const batch of new DataLoader(batched, 2)) same<typeof batch, { all: number }>();
const [train] = eg.data.randomSplit(new TensorDataset(x, x), [1, 1]);
if (train) {
  for await (const batch of new DataLoader(train)) same<typeof batch, [eg.Tensor, eg.Tensor]>();
}
for await (const batch of new DataLoader(new eg.data.Subset([1, 2], [0]), 2)) {
  same<typeof batch, eg.Tensor>();
}

// A collateFn says what a batch is; without batching, samples stay as they are.
const samples = [{ y: 3 }];
for await (const one of new DataLoader(samples, { batchSize: null })) {
  same<typeof one, { y: number }>();
}
const text = (sample: { y: number }) => sample.y.toFixed();
for await (const one of new DataLoader(samples, { batchSize: null, collateFn: text })) {
  same<typeof one, string>();
}
for await (const batch of new DataLoader(samples, { collateFn: (all) => all.map(({ y }) => y) })) {
  same<typeof batch, number[]>();
}
for await (const n of new DataLoader(samples, 2, true, { collateFn: async (all) => all.length })) {
  same<typeof n, number>();
}
const count = (rows: eg.Tensor[][]) => `${rows.length} rows`;
for await (const batch of new DataLoader(new TensorDataset(x, x), { collateFn: count })) {
  same<typeof batch, string>();
}
const options: eg.data.DataLoaderOptions<number, string> = { batchSize: 2 };
const loader: eg.data.DataLoader<number, string> = new DataLoader([1], options);
const collated: { y: eg.Tensor } = eg.data.defaultCollate(samples);
console.log(loader, collated);

// What a program knows of its values.
const rows: number[][] = x.tolist<number[][]>();
const list: number[] = await x.array<number[]>();
const flags: boolean[] = x.arraySync<boolean[]>();
const saved = eg.io.load<{ weights: eg.Tensor; epoch: number }>(new Uint8Array());
same<typeof saved, { weights: eg.Tensor; epoch: number }>();
console.log(rows, list, flags);
// @ts-expect-error: elements are no strings
x.tolist<string[]>();

// Optimizers and schedulers with nothing but a step().
class Sgd extends eg.optim.Optimizer {
  constructor(params: Iterable<eg.Tensor>, lr = 0.1) {
    super(params, { lr });
  }
  override step(): void {
    for (const { params, lr } of this.paramGroups) {
      for (const p of params) {
        if (p.grad === null) continue;
        this.state.set(p, { steps: 0, average: eg.zerosLike(p) });
        p.add_(p.grad, -lr);
      }
    }
  }
}
class Lion extends eg.optim.Optimizer<{ lr: number; betas: [number, number] }, { m: eg.Tensor }> {
  override step<T>(closure?: () => T): T | undefined {
    const loss = closure?.();
    const [{ params, betas } = { params: [], betas: [0, 1] }] = this.paramGroups;
    for (const p of params) this.state.get(p)?.m.mul_(betas[0]);
    return loss;
  }
}
const lion = new Lion([x], { lr: 1, betas: [0, 1] });
const loss: number | undefined = lion.step(() => 3);
class Halving extends eg.optim.lrScheduler.LRScheduler {
  override step(): void {
    for (const group of this.optimizer.paramGroups) group.lr /= 2;
  }
}
class WarmUp extends eg.optim.lrScheduler.LRScheduler {
  constructor(
    optimizer: eg.optim.lrScheduler.ScheduledOptimizer,
    readonly epochs: number,
  ) {
    super(optimizer);
    this.start();
  }
  protected override nextLrs(): number[] {
    return this.baseLrs.map((lr) => lr / this.epochs);
  }
}
const schedulers: eg.optim.lrScheduler.BaseScheduler[] = [
  new Halving(lion),
  new WarmUp(new Sgd([x]), 3),
  new eg.optim.lrScheduler.StepLR(new Sgd([x]), 2),
];
// A function may take any of them.
function stepped(optimizer: eg.optim.Optimizer): eg.optim.OptimizerState<unknown> {
  optimizer.step();
  return optimizer.stateDict();
}
console.log(stepped(new eg.optim.Adam([x])), stepped(new Sgd([x])));
console.log(loss, schedulers);
