// Averages of weights, compared with PyTorch's.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const { AveragedModel, updateBn, getEmaAvgFn, getEmaMultiAvgFn, getSwaMultiAvgFn } =
  eg.optim.swaUtils;
const kExact = { rtol: 1e-9, atol: 1e-9 };

const makeModel = () => new nn.Sequential(new nn.Linear(2, 2), new nn.BatchNorm1d(2)).to("float64");
const rows = (values) => eg.tensor(values, { dtype: "float64" });
const numbersOf = (tensors) => tensors.flatMap((t) => [...t.dataSync()].map(Number));

/** Sets the weights of the model four times, and updates the averages each time. */
function wander(model, ...averages) {
  for (let k = 0; k < 4; k++) {
    for (const [i, p] of model.parameters().entries()) {
      const values = eg.arange(1, p.numel + 1, { dtype: "float64" }).reshape(p.shape);
      p.detach().copy_(values.mul((k + 1) / (i + 2)));
    }
    model.call(
      rows([
        [1, 2],
        [3, 5],
        [k, -1],
      ]),
    );
    for (const average of averages) average.updateParameters(model);
  }
}

describe("AveragedModel", () => {
  const kMean = [1.25, 2.5, 3.75, 5, 5 / 6, 5 / 3, 0.625, 1.25, 0.5, 1];

  test("is the mean of the weights, with the buffers of the last", () => {
    const model = makeModel();
    const averages = [
      new AveragedModel(model),
      new AveragedModel(model, { multiAvgFn: getSwaMultiAvgFn() }),
    ];
    wander(model, ...averages);
    for (const average of averages) {
      assertClose(numbersOf(average.parameters()), kMean, kExact);
      assert.deepEqual(numbersOf(average.module.buffers()), numbersOf(model.buffers()));
      assert.equal(average.n_averaged.item(), 4);
    }
    assert.deepEqual(Object.keys(averages[0].stateDict()).slice(0, 3), [
      ...["n_averaged", "module.0.weight", "module.0.bias"],
    ]);
    const x = rows([[1, 2]]);
    averages[0].eval();
    const expected = averages[0].module.call(x);
    assert.deepEqual(numbersOf([averages[0].call(x)]), numbersOf([expected]));
  });

  test("is a moving average of weights and buffers", () => {
    const model = makeModel();
    const averages = [
      new AveragedModel(model, { avgFn: getEmaAvgFn(0.9), useBuffers: true }),
      new AveragedModel(model, { multiAvgFn: getEmaMultiAvgFn(0.9), useBuffers: true }),
    ];
    wander(model, ...averages);
    const expected = [
      ...[0.7805, 1.561, 2.3415, 3.122, 0.5203333333, 1.0406666667, 0.39025, 0.7805, 0.3122],
      ...[0.6244, 0.75821, 1.7207666667, 6.6212408333, 26.7558825, 1],
    ];
    for (const average of averages) {
      const actual = numbersOf([...average.parameters(), ...average.module.buffers()]);
      assertClose(actual, expected, { rtol: 1e-8, atol: 1e-9 });
    }
  });

  test("leaves the model alone, and no tensors behind", () => {
    const model = makeModel();
    const average = new AveragedModel(model);
    wander(model, average);
    const before = numbersOf(model.parameters());
    const { tensors } = eg.memory();
    average.updateParameters(model);
    assert.equal(eg.memory().tensors, tensors);
    assert.deepEqual(numbersOf(model.parameters()), before);
  });

  test("says what it cannot take", () => {
    const model = makeModel();
    const refuses = (fn, text) => assertThrows(fn, "InvalidArgument", text);
    refuses(() => new AveragedModel({}), /\[AveragedModel\]/);
    const both = { avgFn: getEmaAvgFn(), multiAvgFn: getEmaMultiAvgFn() };
    refuses(() => new AveragedModel(model, both), /avgFn or multiAvgFn/);
    refuses(() => getEmaAvgFn(1.5), /decay: .*from 0 to 1/);
    const average = new AveragedModel(model);
    assertThrows(() => average.updateParameters(new nn.Linear(2, 2)), "ShapeMismatch", /like the/);
  });
});

test("updateBn takes the statistics of the averaged weights", async () => {
  const model = makeModel();
  const average = new AveragedModel(model);
  wander(model, average);
  const batches = [
    rows([
      [1, 2],
      [3, 4],
      [0, -1],
    ]),
    [
      rows([
        [2, 2],
        [5, 4],
        [1, -1],
      ]),
      1,
    ],
  ];
  average.eval();
  await updateBn(batches, average);
  const norm = average.module.at(1);
  const expected = [7.5, 17.5, 71.3541666667, 364.5833333333, 2];
  assertClose(numbersOf(norm.buffers()), expected, kExact);
  assert.deepEqual([average.training, norm.training, norm.momentum], [false, false, 0.1]);
  await assertRejects(updateBn([1], average), "InvalidArgument", /batches that are a tensor/);
  assert.equal(norm.momentum, 0.1);
  await assertRejects(updateBn(3, average), "InvalidArgument", /\[updateBn\] loader/);
});
