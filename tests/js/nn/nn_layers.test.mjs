// Bilinear, RMSNorm, small layers, further losses and gradient clipping.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const kDouble = { dtype: "float64" };

describe("layers", () => {
  test("Bilinear gives x1^T A x2 + b, and begins within 1 / sqrt(in1Features)", () => {
    eg.manualSeed(4);
    const layer = new nn.Bilinear(9, 2, 3);
    eg.manualSeed(4);
    const weight = nn.init.uniform_(eg.empty([3, 9, 2]), -1 / 3, 1 / 3);
    const bias = nn.init.uniform_(eg.empty([3]), -1 / 3, 1 / 3);
    assertTensor(layer.weight, weight.dataSync(), { rtol: 0, atol: 0 });
    assertTensor(layer.bias, bias.dataSync(), { rtol: 0, atol: 0 });
    const [a, b] = [eg.randn([4, 9]), eg.randn([4, 2])];
    const [rows, columns, [w, c]] = [
      a.arraySync(),
      b.arraySync(),
      [weight.arraySync(), bias.arraySync()],
    ];
    const expected = rows.flatMap((x, n) =>
      w.map((matrix, o) =>
        matrix.reduce(
          (sum, row, i) => sum + row.reduce((s, v, j) => s + x[i] * v * columns[n][j], 0),
          c[o],
        ),
      ),
    );
    assertTensor(layer.call(a, b), expected, { shape: [4, 3], rtol: 1e-5, atol: 1e-5 });
    const plain = new nn.Bilinear(2, 2, 1, { bias: false, ...kDouble });
    assert.deepEqual(Object.keys(plain.stateDict()), ["weight"]);
    assert.equal(plain.weight.dtype, "float64");
  });

  test("RMSNorm divides by the root mean square and scales", () => {
    const layer = new nn.RMSNorm([4], { eps: 0.5 });
    layer.weight.detach().fill_(2);
    const x = [1, -2, 3, 4];
    const root = Math.sqrt(30 / 4 + 0.5);
    assertTensor(
      layer.call(eg.tensor([x])),
      x.map((value) => (2 * value) / root),
    );
    assert.deepEqual(Object.keys(layer.stateDict()), ["weight"]);
    assert.deepEqual(new nn.RMSNorm(4, null, false).parameters(), []);
    // By default eps is the machine epsilon of the dtype.
    const tiny = new nn.RMSNorm(1).call(eg.tensor([1e-4]));
    assertTensor(tiny, [1e-4 / Math.sqrt(1e-8 + 2 ** -23)]);
  });

  test("SiLU and Softmax", () => {
    const x = eg.tensor([-1, 0, 2], kDouble);
    assertTensor(new nn.SiLU().call(x), [-1 / (1 + Math.E), 0, 2 / (1 + Math.exp(-2))]);
    const columns = new nn.Softmax(0).call(
      eg.tensor([
        [0, 1],
        [0, 1],
      ]),
    );
    assertTensor(columns, [0.5, 0.5, 0.5, 0.5]);
    const two = eg.tensor([[0, Math.log(3)]]);
    assertTensor(new nn.Softmax({ dim: 1 }).call(two), [0.25, 0.75]);
    assertTensor(new nn.Softmax().call(two), [0.25, 0.75]);
    assertTensor(new nn.Softmax().call(eg.zeros([2, 3, 1])).at(0), [0.5, 0.5, 0.5]);
  });
});

describe("losses", () => {
  const [input, target] = [eg.tensor([0.5, 3], kDouble), eg.tensor([0, 1], kDouble)];

  test("SmoothL1Loss and HuberLoss", () => {
    assertTensor(new nn.SmoothL1Loss().call(input, target), [(0.125 + 1.5) / 2]);
    assertTensor(new nn.SmoothL1Loss({ beta: 2, reduction: "sum" }).call(input, target), [1.0625]);
    const huber = new nn.HuberLoss({ delta: 0.5, reduction: "none" });
    assertTensor(huber.call(input, target), [0.125, 0.5 * (2 - 0.25)]);
  });

  test("arguments go by position as well as by name", () => {
    const weight = eg.tensor([1, 3]);
    assertTensor(new nn.CrossEntropyLoss(weight).weight, [1, 3]);
    const mixed = new nn.NLLLoss(weight, { reduction: "sum", ignoreIndex: 1 });
    assertTensor(mixed.weight, [1, 3]);
    assert.deepEqual([mixed.ignoreIndex, mixed.reduction], [1, "sum"]);
    const buffer = new nn.Buffer(weight);
    assert.equal(new nn.BCELoss(buffer).weight, buffer);
    assert.equal(new nn.MSELoss("none").reduction, "none");
    const huber = new nn.HuberLoss("sum", 0.5);
    assert.deepEqual([huber.reduction, huber.delta], ["sum", 0.5]);
    const triplet = new nn.TripletMarginLoss(2, 1, 0, true, "sum");
    const { margin, p, eps, swap, reduction } = triplet;
    assert.deepEqual([margin, p, eps, swap, reduction], [2, 1, 0, true, "sum"]);
  });

  test("BCELoss and KLDivLoss", () => {
    const p = eg.tensor([0.25, 0.5], kDouble);
    const weight = eg.tensor([1, 2], kDouble);
    const each = [-Math.log(0.75), 2 * Math.LN2];
    assertTensor(new nn.BCELoss({ weight, reduction: "none" }).call(p, target), each);
    assertTensor(new nn.BCELoss({ weight }).call(p, target), [(each[0] + each[1]) / 2]);
    const logs = eg.tensor([[0.25, 0.75]], kDouble).log();
    const half = eg.tensor([[0.5, 0.5]], kDouble);
    const divergence = 0.5 * Math.log(0.5 / 0.25) + 0.5 * Math.log(0.5 / 0.75);
    const batch = { reduction: "batchmean" };
    assertTensor(new nn.KLDivLoss(batch).call(logs, half), [divergence]);
    const both = new nn.KLDivLoss({ ...batch, logTarget: true });
    assertTensor(both.call(logs, half.log()), [divergence]);
    assertTensor(new nn.KLDivLoss().call(logs, half), [divergence / 2]);
  });
});

describe("losses of pairs and counts", () => {
  const [x, y] = [eg.tensor([0.5, -2, 3], kDouble), eg.tensor([1, -1, -1], kDouble)];

  test("MarginRankingLoss, HingeEmbeddingLoss and SoftMarginLoss", () => {
    const other = eg.tensor([1, 1, 1], kDouble);
    const ranking = new nn.MarginRankingLoss({ margin: 0.25, reduction: "none" });
    assertTensor(ranking.call(x, other, y), [0.75, 0, 2.25]);
    assertTensor(new nn.MarginRankingLoss().call(x, other, y), [(0.5 + 0 + 2) / 3]);
    assertTensor(new nn.HingeEmbeddingLoss({ reduction: "none" }).call(x, y), [0.5, 3, 0]);
    assertTensor(new nn.HingeEmbeddingLoss({ margin: 4, reduction: "sum" }).call(x, y), [7.5]);
    const soft = [-0.5, -2, 3].map((value) => Math.log1p(Math.exp(value)));
    assertTensor(new nn.SoftMarginLoss({ reduction: "none" }).call(x, y), soft);
  });

  test("PoissonNLLLoss of rates and of their logarithms", () => {
    const [rate, count] = [eg.tensor([0.5, 4], kDouble), eg.tensor([2, 3], kDouble)];
    const each = [0.5 - 2 * Math.log(0.5), 4 - 3 * Math.log(4)];
    const plain = new nn.PoissonNLLLoss({ logInput: false, reduction: "none" });
    // eps, 1e-8, is added before the logarithm is taken.
    assertTensor(plain.call(rate, count), each, { rtol: 1e-7 });
    assertTensor(new nn.PoissonNLLLoss().call(rate.log(), count), [(each[0] + each[1]) / 2]);
  });

  test("GaussianNLLLoss takes the variance as a tensor or a number", () => {
    const [mean, value] = [eg.tensor([1, 2], kDouble), eg.tensor([2, 2], kDouble)];
    const variance = eg.tensor([0.5, 4], kDouble);
    const each = [0.5 * (Math.log(0.5) + 2), 0.5 * Math.log(4)];
    const plain = new nn.GaussianNLLLoss({ reduction: "none" });
    assertTensor(plain.call(mean, value, variance), each);
    const full = new nn.GaussianNLLLoss({ full: true, reduction: "sum" });
    assertTensor(full.call(mean, value, 2), [Math.log(2) + 0.25 + Math.log(2 * Math.PI)]);
    assert.throws(() => plain.call(mean, value, -1), { code: "InvalidArgument" });
  });

  test("CosineEmbeddingLoss and TripletMarginLoss", () => {
    const [a, b] = [eg.tensor([[3, 4]], kDouble), eg.tensor([[4, 3]], kDouble)];
    assertTensor(new nn.CosineEmbeddingLoss().call(a, b, eg.tensor([1])), [0.04]);
    const apart = new nn.CosineEmbeddingLoss({ margin: 0.5 });
    assertTensor(apart.call(a, b, eg.tensor([-1])), [0.46]);
    const origin = eg.zeros([1, 2], kDouble);
    const triplet = new nn.TripletMarginLoss({ margin: 2, p: 1, eps: 0 });
    assertTensor(triplet.call(origin, a, eg.tensor([[8, 0]], kDouble)), [1]);
    assert.throws(() => new nn.TripletMarginLoss({ margin: 0 }), { code: "InvalidArgument" });
    const distanceFunction = (x, y) => x.sub(y).abs().amax(-1);
    const greatest = new nn.TripletMarginWithDistanceLoss({ distanceFunction, swap: true });
    // The anchor is at a distance of 4 from the positive and 8 from the negative, which are 5 apart.
    assertTensor(greatest.call(origin, a, eg.tensor([[8, 0]], kDouble)), [0]);
    const near = eg.tensor([[4, 6]], kDouble);
    assertTensor(greatest.call(origin, a, near), [3]);
    const close = eg.tensor([[0, 5.5]], kDouble);
    const plain = eg.tripletMarginWithDistanceLoss(origin, a, close, { reduction: "sum" });
    assertTensor(plain, [0.5], { rtol: 1e-5, atol: 1e-5 });
  });

  test("losses of one and of several classes", () => {
    const scores = eg.tensor([[0.1, 0.2, 0.4, 0.8]], kDouble);
    const one = eg.tensor([3], { dtype: "int64" });
    assertTensor(new nn.MultiMarginLoss().call(scores, one), [1.3 / 4]);
    assertTensor(new nn.MultiMarginLoss({ p: 2 }).call(scores, one), [0.61 / 4]);
    const several = eg.tensor([[3, 0, -1, 1]], { dtype: "int64" });
    assertTensor(new nn.MultiLabelMarginLoss().call(scores, several), [0.85]);
    const yes = eg.tensor([[1, 0]], kDouble);
    const weight = eg.tensor([2, 0], kDouble);
    const soft = new nn.MultiLabelSoftMarginLoss({ weight });
    assertTensor(soft.call(eg.zeros([1, 2], kDouble), yes), [Math.LN2]);
  });
});

describe("nn.utils", () => {
  const withGrad = (values) => {
    const parameter = eg.zeros([values.length], { ...kDouble, requiresGrad: true });
    parameter.grad = eg.tensor(values, kDouble);
    return parameter;
  };
  const gradsOf = (parameters) => parameters.flatMap(({ grad }) => [...grad.dataSync()]);

  test("clipGradNorm_ scales all gradients together, and returns their norm", () => {
    const parameters = [withGrad([3, 0]), withGrad([4])];
    const unused = eg.zeros([1], { requiresGrad: true });
    const norm = nn.utils.clipGradNorm_([...parameters, unused], 1);
    assertTensor(norm, [5], { shape: [] });
    assertClose(
      gradsOf(parameters),
      [3, 0, 4].map((value) => value / (5 + 1e-6)),
      {
        rtol: 1e-12,
      },
    );
    assert.equal(nn.utils.clipGradNorm_(parameters, 2).item().toFixed(5), "1.00000");
    assertClose(gradsOf(parameters), [0.6, 0, 0.8]);
    assert.equal(nn.utils.clipGradNorm_([unused], 1).item(), 0);
  });

  test("clipGradNorm_ supports other norms, and rejects norms that are not finite on request", () => {
    const parameters = [withGrad([-3, 1]), withGrad([2])];
    assertTensor(nn.utils.clipGradNorm_(parameters, 100, 1), [6]);
    assertTensor(nn.utils.clipGradNorm_(parameters, 1.5, { normType: Infinity }), [3]);
    assertClose(gradsOf(parameters), [-1.5, 0.5, 1]);
    const broken = withGrad([Number.NaN, 1]);
    const strict = { errorIfNonfinite: true };
    assertThrows(
      () => nn.utils.clipGradNorm_(broken, 1, strict),
      "InvalidArgument",
      /infinite or NaN.*errorIfNonfinite/,
    );
    assert.equal(broken.grad.dataSync()[1], 1);
  });

  test("clipGradValue_ limits every element", () => {
    const parameter = withGrad([-3, 0.5, 2]);
    nn.utils.clipGradValue_(parameter, 1);
    assertTensor(parameter.grad, [-1, 0.5, 1]);
  });
});

describe("running statistics", () => {
  for (const shape of [
    [0, 3],
    [0, 3, 4],
    [2, 3, 0],
  ])
    for (const momentum of [0.1, null])
      test(`stay what they are in a batch of [${shape}], momentum ${momentum}`, () => {
        const norm = new nn.BatchNorm1d(3, { momentum });
        const x = eg.zeros(shape, { requiresGrad: true });
        const y = norm.call(x);
        y.sum().backward();
        assert.deepEqual(y.shape, shape);
        assert.deepEqual(x.grad.shape, shape);
        assertTensor(norm.weight.grad, [0, 0, 0]);
        assertTensor(norm.running_mean, [0, 0, 0]);
        assertTensor(norm.running_var, [1, 1, 1]);
        assert.equal(Number(norm.num_batches_tracked.item()), 1);
      });

  for (const [name, norm, input] of [
    ["batchNorm", (...args) => eg.batchNorm(...args, true), eg.randn([4, 3])],
    ["instanceNorm", (...args) => eg.instanceNorm(...args), eg.randn([4, 3, 5])],
  ]) {
    test(`of ${name} stay what they were when the call fails`, () => {
      const good = () => eg.zeros([3]);
      for (const [mean, variance, weight] of [
        [good(), eg.ones([4]), null],
        [good(), eg.ones([3], { dtype: "int32" }), null],
        [good(), eg.complex(good(), good()), null],
        [eg.ones([3], { dtype: "int64" }), good(), null],
        [eg.zeros([1]), good(), null],
        [good(), good(), eg.ones([5])],
      ]) {
        const before = [mean, variance].map((one) => [one.version, one.arraySync()]);
        assert.throws(() => norm(input, mean, variance, weight, null), eg.EdgeGradError);
        assert.deepEqual(
          [mean, variance].map((one) => [one.version, one.arraySync()]),
          before,
        );
      }
    });

    test(`of ${name} move towards what was seen`, () => {
      const [mean, variance] = [eg.zeros([3]), eg.ones([3])];
      norm(input, mean, variance, null, null);
      const seen = name === "batchNorm" ? input : input.transpose(1, 2).reshape([-1, 3]);
      // Numbers of a size of about 1, whose sum is about 0.
      assertTensor(mean, seen.mean(0).mul(0.1).dataSync(), { atol: 1e-8 });
      const seenVariance = name === "batchNorm" ? input.var(0) : input.var(2).mean(0);
      assertTensor(variance, seenVariance.mul(0.1).add(0.9).dataSync());
    });
  }
});

test("a largest norm scales the rows that are looked up, in place and without a trace", () => {
  const rows = () =>
    eg.tensor([
      [3, 4],
      [0.3, 0.4],
      [6, 8],
    ]);
  const table = new nn.Embedding(3, 2, { maxNorm: 1 });
  table.weight.detach().copy_(rows());
  const found = eg.scope(() =>
    table.call(
      eg.tensor([
        [0n, 1n],
        [0n, 0n],
      ]),
    ),
  );
  const close = { rtol: 1e-6 };
  assertTensor(found, [0.6, 0.8, 0.3, 0.4, 0.6, 0.8, 0.6, 0.8], close);
  assertTensor(table.weight, [0.6, 0.8, 0.3, 0.4, 6, 8], close);
  found.sum().backward();
  assertTensor(table.weight.grad, [3, 3, 1, 1, 0, 0]);
  assert.equal(`${table}`, "Embedding(3, 2, max_norm=1.0)");
  assertThrows(() => table.call(eg.tensor([3n])), "IndexOutOfRange", /embedding/);
  const bag = new nn.EmbeddingBag(3, 2, 5, 1, { mode: "sum" });
  bag.weight.detach().copy_(rows());
  assertTensor(bag.call(eg.tensor([[0n, 1n]])), [3 * (5 / 7) + 0.3, 4 * (5 / 7) + 0.4], close);
  assert.equal(`${bag}`, "EmbeddingBag(3, 2, max_norm=5.0, norm_type=1.0, mode='sum')");
  const given = nn.Embedding.fromPretrained(rows(), { maxNorm: 5 });
  assertTensor(given.call(eg.tensor([2n])), [3, 4], close);
});

describe("Embedding.fromPretrained", () => {
  const vectors = eg.tensor([
    [1, 2],
    [3, 4],
  ]);

  test("shares the vectors, draws nothing and does not learn by default", () => {
    eg.manualSeed(5);
    const expected = eg.rand([2]).dataSync();
    eg.manualSeed(5);
    const table = nn.Embedding.fromPretrained(vectors, { paddingIdx: -1 });
    assertTensor(eg.rand([2]), expected);
    assert.ok(table instanceof nn.Embedding);
    assert.deepEqual([table.weight.requiresGrad, table.paddingIdx], [false, 1]);
    assert.equal(String(table), "Embedding(2, 2, padding_idx=1)");
    assert.deepEqual(Object.keys(table.stateDict()), ["weight"]);
    assertTensor(table.call(eg.tensor([1n])), [3, 4]);
    const learning = nn.Embedding.fromPretrained(vectors, false);
    learning
      .call(eg.tensor([0n]))
      .sum()
      .backward();
    assertTensor(learning.weight.grad, [1, 1, 0, 0]);
  });

  test("refuses tensors that are not matrices", () => {
    const from = nn.Embedding.fromPretrained;
    assertThrows(
      () => from(eg.ones([2])),
      "ShapeMismatch",
      /expected a matrix, got the shape \[2\]/,
    );
    assertThrows(() => from(vectors, { padding_idx: 0 }), "InvalidArgument", /mean "paddingIdx"/);
    assertThrows(() => from(vectors, true, 2), "IndexOutOfRange");
  });
});

test("a transposed convolution returns the requested size", () => {
  const layer = new nn.ConvTranspose1d(1, 1, 3, { stride: 2 });
  const x = eg.randn([1, 1, 4]);
  assert.deepEqual(layer.call(x).shape, [1, 1, 9]);
  assert.deepEqual(layer.call(x, [10]).shape, [1, 1, 10]);
  assert.deepEqual(layer.call(x, [1, 1, 10]).shape, [1, 1, 10]);
  assertThrows(() => layer.call(x, [11]), "InvalidArgument", /from 9 to 10/);
  assertThrows(() => layer.call(x, [1, 10]), "InvalidArgument", /1 or 3 elements/);
});
