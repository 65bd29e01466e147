// watch(): what it tells of parameters, gradients, updates and units.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLog, watch } from "edgegrad/vis";
import { eg } from "../support/engine.mjs";

const { nn, optim } = eg;
const close = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-5, `${actual}`);

describe("a watched module", () => {
  function twoUnits() {
    const model = new nn.Sequential(new nn.Linear(2, 4, { bias: false }), new nn.ReLU());
    // The last two units are 0 for all positive inputs.
    const rows = [
      [1, 0],
      [0, 1],
      [-1, 0],
      [-1, -1],
    ];
    eg.noGrad(() => model[0].weight.copy_(eg.tensor(rows)));
    return model;
  }

  test("tells norms, histograms, the ratio of update to weight, and dead units", () => {
    const log = createLog();
    const model = twoUnits();
    const optimizer = new optim.SGD(model.parameters(), { lr: 0.5 });
    const watcher = watch(model, log.run("a"), { bins: 4 });
    const { tensors } = eg.memory();
    eg.scope(() => {
      const x = eg.tensor([
        [1, 2],
        [3, 4],
      ]);
      // A scope of its own for the forward pass must not take what is needed later.
      const loss = eg.scope(() => model.call(x).sum());
      loss.backward();
      assert.equal(
        watcher.update(0, () => {
          optimizer.step();
          return 5;
        }),
        5,
      );
    });
    const latest = (kind, tag) => log.run("a").latest(kind, tag)?.value;
    // The gradient of both living units is the sum of the inputs, [4, 6].
    close(latest("scalar", "gradient norm/0.weight"), Math.sqrt(104));
    close(latest("scalar", "weight norm/0.weight"), Math.sqrt(5));
    close(latest("scalar", "update ratio/0.weight"), (0.5 * Math.sqrt(104)) / Math.sqrt(5));
    close(latest("scalar", "dead units/1"), 0.5);
    // Ranges from -1 to 1: three weights of -1, three of 0 (at the start of the third range), two of 1.
    assert.deepEqual([...latest("histogram", "weight/0.weight").counts], [3, 0, 3, 2]);
    assert.equal(latest("histogram", "weight/0.weight").min, -1);
    assert.equal(latest("histogram", "gradient/0.weight").max, 6);
    // The gradient of the weight is what is left.
    assert.equal(eg.memory().tensors, tensors + 1);
    watcher.remove();
  });

  test("looks in every so many steps only, and no more when it is removed", () => {
    const log = createLog();
    const run = log.run("a");
    const model = twoUnits();
    const watcher = watch(model, run, { every: 3, histograms: false });
    const step = (number) => {
      model.zeroGrad();
      model
        .call(eg.ones([2, 2]))
        .sum()
        .backward();
      watcher.update(number, () => {});
    };
    for (let i = 0; i < 8; i++) step(i);
    const stepsOf = (tag) => run.records("scalar", tag).map((record) => record.step);
    assert.deepEqual(stepsOf("dead units/1"), [0, 3, 6]);
    assert.deepEqual(stepsOf("gradient norm/0.weight"), [0, 3, 6]);
    assert.deepEqual(run.tags("histogram"), []);
    assert.equal(run.latest("scalar", "update ratio/0.weight").value, 0);
    watcher.remove();
    const { tensors } = eg.memory();
    eg.scope(() => void model.call(eg.ones([2, 2])));
    assert.equal(eg.memory().tensors, tensors);
  });

  test("counts channels of pictures, of the classes that were asked for", () => {
    const log = createLog();
    const model = new nn.Sequential(new nn.Conv2d(1, 3, 1, { bias: false }), new nn.Hardtanh(0, 1));
    eg.noGrad(() => model[0].weight.copy_(eg.tensor([1, -1, -1]).reshape([3, 1, 1, 1])));
    const watcher = watch(model, log.run("a"), { activations: [nn.Hardtanh] });
    model.call(eg.ones([2, 1, 4, 4]));
    watcher.update(0, () => {});
    close(log.run("a").latest("scalar", "dead units/1").value, 2 / 3);
  });

  test("passes on what an update throws, and keeps nothing then", () => {
    const model = twoUnits();
    const watcher = watch(model, createLog().run("a"));
    const { tensors } = eg.memory();
    const error = new Error("no");
    const fails = () =>
      watcher.update(0, () => {
        throw error;
      });
    assert.throws(fails, (thrown) => thrown === error);
    assert.equal(eg.memory().tensors, tensors);
  });

  test("refuses what it cannot watch", () => {
    const run = createLog().run("a");
    const model = twoUnits();
    const kWrong = [
      () => watch({}, run),
      () => watch(model, {}),
      () => watch(model, run, { every: 0 }),
      () => watch(model, run, { activations: [5] }),
      () => watch(model, run).update(-1, () => {}),
      () => watch(model, run).update(1, 5),
    ];
    for (const call of kWrong) assert.throws(call, { code: "InvalidArgument" });
  });
});
