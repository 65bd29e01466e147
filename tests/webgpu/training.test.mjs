// Training steps: the kernels in the order in which the engine calls them, compared with the CPU.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { assertClose, randoms, range } from "./support/close.mjs";
import { elementwise, rows } from "./support/kernel_fields.mjs";
import { options, Playing } from "./support/playing.mjs";

const kBatch = 12;
const kSizes = [20, 16, 10];
const kSteps = 5;
const kLr = 0.01;

const inputs = randoms(kBatch * kSizes[0], 1);
const classes = range(kBatch, (i) => (i * 3) % kSizes[2]);
const initial = [
  randoms(kSizes[1] * kSizes[0], 2).map((x) => 0.3 * x),
  randoms(kSizes[1], 3),
  randoms(kSizes[2] * kSizes[1], 4).map((x) => 0.3 * x),
  randoms(kSizes[2], 5),
];

function lossesOnCpu() {
  const shapes = [[kSizes[1], kSizes[0]], [kSizes[1]], [kSizes[2], kSizes[1]], [kSizes[2]]];
  const params = initial.map((data, i) =>
    eg.tensor(data).reshape(shapes[i]).detach().requiresGrad_(),
  );
  const x = eg.tensor(inputs).reshape([kBatch, kSizes[0]]);
  const t = eg.tensor(classes.map(BigInt), { dtype: "int64" });
  const optimizer = new eg.optim.Adam(params, { lr: kLr });
  return range(kSteps, () => {
    optimizer.zeroGrad();
    const hidden = eg.relu(eg.linear(x, params[0], params[1]));
    const loss = eg.crossEntropy(eg.linear(hidden, params[2], params[3]), t);
    loss.backward();
    optimizer.step();
    return loss.item();
  });
}

/** The memory of a step, freed at its end. */
class Temporaries {
  #p;
  #blocks = [];

  constructor(p) {
    this.#p = p;
  }

  view(count) {
    const block = this.#p.allocate(4 * count);
    this.#blocks.push(block);
    return { block, offset: 0, dtype: "float32", count };
  }

  free() {
    for (const block of this.#blocks) this.#p.stream.free(block);
  }
}

const layout = ([rowStride, columnStride]) => ({ batchStrides: [], rowStride, columnStride });

// c = a b, where a and b have the given strides.
function multiply(p, [m, n, k], [a, aStrides], [b, bStrides], c, bias) {
  p.kernel("matrix_product", {
    sizes: { batch: [], m, n, k },
    ...{ a, aLayout: layout(aStrides), b, bLayout: layout(bStrides) },
    ...{ c, cLayout: layout([n, 1]), alpha: 1, beta: 0, bias },
  });
}

function formula(p, op, gradientOf, operands) {
  p.kernel(
    "elementwise",
    elementwise(
      { op, gradientOf, shape: [operands[0].count] },
      operands.map((view) => [view, [1]]),
    ),
    op,
  );
}

function sum(p, shape, dims, x, y) {
  p.kernel("reduce", {
    reduction: { fold: 0, compute: "float32", divisor: 1, root: false },
    ...{ shape, dims, x, xStrides: [shape[1], 1], y },
  });
}

/** Runs one step; the loss is stored in the step's memory. */
function step(p, { x, targets, params, state, one }, number) {
  const [features, width, count] = kSizes;
  const [weight1, bias1, weight2, bias2] = params;
  const all = new Temporaries(p);
  const [before, hidden] = [all.view(kBatch * width), all.view(kBatch * width)];
  const scores = all.view(kBatch * count);
  multiply(
    p,
    [kBatch, width, features],
    [x, [features, 1]],
    [weight1, [1, features]],
    before,
    bias1,
  );
  formula(p, "relu", -1, [hidden, before]);
  multiply(p, [kBatch, count, width], [hidden, [width, 1]], [weight2, [1, width]], scores, bias2);
  const [losses, largest, logSum] = range(3, () => all.view(kBatch));
  const target = {
    rows: rows([kBatch, count, 1]),
    index: targets,
    ...{ ignoreIndex: -100, smoothing: 0 },
  };
  p.kernel("cross_entropy", { targets: target, scores, losses, largest, logSum });
  const [loss, totalWeight] = [all.view(1), all.view(1)];
  p.kernel("mean_loss", { targets: target, losses, mean: loss, totalWeight });

  const gradScores = all.view(kBatch * count);
  p.kernel("cross_entropy_backward", {
    targets: target,
    ...{ scores, largest, logSum, grad: one, gradStep: 0, totalWeight, gradScores },
  });
  const grads = params.map((param) => all.view(param.count));
  const gradHidden = all.view(kBatch * width);
  multiply(p, [count, width, kBatch], [gradScores, [1, count]], [hidden, [width, 1]], grads[2]);
  sum(p, [kBatch, count], [0], gradScores, grads[3]);
  multiply(p, [kBatch, width, count], [gradScores, [count, 1]], [weight2, [width, 1]], gradHidden);
  formula(p, "relu", 0, [gradHidden, gradHidden, before, hidden]);
  multiply(p, [width, features, kBatch], [gradHidden, [1, width]], [x, [features, 1]], grads[0]);
  sum(p, [kBatch, width], [0], gradHidden, grads[1]);
  for (const [i, param] of params.entries()) {
    const [expAvg, expAvgSq] = state[i];
    p.kernel("adam_step", {
      options: {
        ...{ step: number, lr: kLr, beta1: 0.9, beta2: 0.999, eps: 1e-8, weightDecay: 0 },
        ...{ decoupled: false, maximize: false },
      },
      ...{ count: param.count, param, grad: grads[i], expAvg, expAvgSq },
    });
  }
  return { loss, free: () => all.free() };
}

test("a network learns as it does on the CPU", options, async () => {
  const p = new Playing();
  const memory = {
    x: p.view("float32", inputs),
    targets: p.view("int64", classes),
    params: initial.map((data) => p.view("float32", data)),
    state: initial.map((data) =>
      range(2, () =>
        p.view(
          "float32",
          data.map(() => 0),
        ),
      ),
    ),
    one: p.view("float32", [1]),
  };
  const losses = [];
  const stats = [];
  for (let number = 1; number <= kSteps; number++) {
    const { loss, free } = step(p, memory, number);
    const [value] = await p.read(loss);
    losses.push(value);
    free();
    stats.push(p.stats);
  }
  assertClose(losses, lossesOnCpu(), { relative: 1e-4 });
  assert.ok(losses.at(-1) < losses[0]);
  const [before, after] = stats.slice(-2);
  assert.equal(after.submits - before.submits, 1);
  assert.ok(after.dispatches - before.dispatches <= 20);
  for (const name of ["pipelines", "bindGroups", "buffersCreated"])
    assert.equal(after[name], before[name], name);
});
