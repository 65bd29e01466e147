// A step that fails changes nothing: no parameter, no state, no step count.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kOptimizers = {
  "SGD with momentum": (groups) => new eg.optim.SGD(groups, { lr: 0.1, momentum: 0.9 }),
  SGD: (groups) => new eg.optim.SGD(groups, { lr: 0.1 }),
  Adam: (groups) => new eg.optim.Adam(groups, { amsgrad: true }),
  AdamW: (groups) => new eg.optim.AdamW(groups),
  RMSprop: (groups) => new eg.optim.RMSprop(groups, { momentum: 0.9, centered: true }),
  Adagrad: (groups) => new eg.optim.Adagrad(groups),
  NAdam: (groups) => new eg.optim.NAdam(groups, { weightDecay: 0.1 }),
  RAdam: (groups) => new eg.optim.RAdam(groups, { decoupledWeightDecay: true, weightDecay: 0.1 }),
  Adadelta: (groups) => new eg.optim.Adadelta(groups),
  Adamax: (groups) => new eg.optim.Adamax(groups),
  ASGD: (groups) => new eg.optim.ASGD(groups, { t0: 1 }),
  Rprop: (groups) => new eg.optim.Rprop(groups),
};

/** Ways to make the step of the last of four parameters fail; each returns a function that reverts the change. */
const kFailures = {
  "a gradient of another shape": (param) => {
    param.detach().unsqueeze_(0);
    const { grad } = param;
    grad.unsqueeze_(0);
    return () => grad.squeeze_(0);
  },
  "a setting that is no number": (_, optimizer) => {
    const group = optimizer.paramGroups[1];
    const { lr } = group;
    group.lr = "fast";
    return () => {
      group.lr = lr;
    };
  },
};

const numbersOf = (optimizer) =>
  eg.scope(() =>
    JSON.stringify(
      Object.entries(optimizer.stateDict().state).map(([key, state]) => [
        key,
        Object.entries(state).map(([name, value]) => [name, [...value.dataSync()]]),
      ]),
    ),
  );

function setUp(make) {
  const params = [1, 2, 3, 4].map((n) => eg.full([2], n).requiresGrad_());
  const optimizer = make([{ params: params.slice(0, 2) }, { params: params.slice(2) }]);
  const accumulate = () => {
    optimizer.zeroGrad();
    params.reduce((sum, p) => sum.add(p.mul(p).sum()), eg.tensor(0)).backward();
  };
  return { params, optimizer, accumulate, values: () => params.map((p) => [...p.dataSync()]) };
}

for (const [name, make] of Object.entries(kOptimizers)) {
  describe(name, () => {
    for (const [what, fail] of Object.entries(kFailures)) {
      for (const stepsBefore of [0, 2]) {
        test(`${what}, after ${stepsBefore} steps`, () => {
          const failing = setUp(make);
          const smooth = setUp(make);
          for (let i = 0; i < stepsBefore; i++) {
            for (const one of [failing, smooth]) {
              one.accumulate();
              one.optimizer.step();
            }
          }
          failing.accumulate();
          smooth.accumulate();
          const before = failing.values();
          const state = numbersOf(failing.optimizer);
          const { tensors } = eg.memory();
          const undo = fail(failing.params[3], failing.optimizer);
          assert.throws(
            () => failing.optimizer.step(),
            (error) => error instanceof eg.EdgeGradError && !error.message.includes("_step_"),
          );
          assert.deepEqual(failing.values(), before);
          undo();
          assert.equal(numbersOf(failing.optimizer), state);
          assert.ok(eg.memory().tensors <= tensors + 2, "nothing is left behind");
          // The next step counts as the first one.
          failing.optimizer.step();
          smooth.optimizer.step();
          assert.deepEqual(failing.values(), smooth.values());
        });
      }
    }

    test("a parameter that was disposed of", () => {
      const { params, optimizer, accumulate } = setUp(make);
      accumulate();
      params[3].dispose();
      assertThrows(() => optimizer.step(), "Disposed");
      assertTensor(params[0], [1, 1]);
      assert.equal(params[0].version, 0);
    });
  });
}
