// edgegrad/vis with tensors of the device: their values are those of the time of the call, and arrive later.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLog, JsonlWriter, memoryByKind, profileStep, summary, watch } from "edgegrad/vis";
import { collectGarbage } from "../../js/support/collect_garbage.mjs";
import { eg, onGpu, options } from "../support/engine.mjs";

const { nn, optim } = eg;

describe("edgegrad/vis", options, () => {
  test("reads tensors as they are at the time, without waiting", async () => {
    const run = createLog().run("a");
    const writer = new JsonlWriter();
    await collectGarbage();
    const { tensors } = eg.memory();
    eg.scope(() => {
      const weight = onGpu([[1, 2], [3, 6]]); // biome-ignore format: a matrix
      for (const recorder of [run, writer]) {
        recorder.addScalar("sum", weight.sum(), 1);
        recorder.addHistogram("weight", weight, 1, 5);
        recorder.addMatrix("matrix", weight, 1);
      }
      run.addImage("image", weight.div(6), 1, "HW");
      weight.mul_(100);
    });
    assert.equal(run.latest("scalar", "sum"), null);
    await run.settled();
    assert.equal(run.latest("scalar", "sum").value, 12);
    assert.deepEqual([...run.latest("histogram", "weight").value.counts], [1, 1, 1, 0, 1]);
    assert.deepEqual([...run.latest("matrix", "matrix").value.values], [1, 2, 3, 6]);
    assert.deepEqual([...run.latest("image", "image").value.data], [43, 85, 128, 255]);
    const lines = new TextDecoder()
      .decode(await writer.bytes())
      .trim()
      .split("\n");
    assert.deepEqual(lines.map((line) => JSON.parse(line).tag).sort(), ["matrix", "sum", "weight"]);
    assert.equal(eg.memory().tensors, tensors);
  });

  test("watches, profiles and sums up a model of the device", async () => {
    const model = new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU()).to("webgpu");
    const run = createLog().run("a");
    const optimizer = new optim.SGD(model.parameters(), { lr: 0.5 });
    const watcher = watch(model, run, { every: 1 });
    const step = () =>
      eg.scope(() => {
        optimizer.zeroGrad();
        model
          .call(eg.ones([2, 4], { device: "webgpu" }))
          .sum()
          .backward();
        watcher.update(0, () => optimizer.step());
      });
    step();
    await run.settled();
    for (const tag of ["weight norm/0.weight", "update ratio/0.weight", "dead units/1"])
      assert.ok(Number.isFinite(run.latest("scalar", tag).value), tag);
    watcher.remove();
    assert.equal(summary(model, [2, 4]).multiplyAdds, 64);
    assert.equal(memoryByKind(model).parameters, 160);
    const profile = profileStep(model, () => {
      model
        .call(eg.ones([2, 4], { device: "webgpu" }))
        .sum()
        .backward();
    });
    assert.ok(profile.byLayer().some(({ name }) => name === "0"));
  });
});
