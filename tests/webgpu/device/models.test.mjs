// Models on the device: moved, saved, loaded, fed with data and checked.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { eg, leaf, onGpu, options } from "../support/engine.mjs";

const { nn, optim } = eg;
const device = "webgpu";

function makeModel() {
  return new nn.Sequential(new nn.Linear(3, 4), new nn.BatchNorm1d(4), new nn.Linear(4, 2));
}

/** A step of training; returns the loss. */
function step(model, optimizer, x) {
  return eg.scope(() => {
    optimizer.zeroGrad();
    const loss = model.call(x).square().mean();
    loss.backward();
    optimizer.step();
    return loss.item();
  });
}

describe("Module.to", options, () => {
  test("moves parameters, buffers and gradients, which stay the same objects", () => {
    const model = makeModel();
    model
      .call(eg.randn([5, 3]))
      .sum()
      .backward();
    const before = [...model.parameters(), ...model.buffers()];
    const values = before.map((tensor) => tensor.arraySync());
    const [{ grad }] = model.parameters();
    const gradient = grad.arraySync();
    assert.equal(model.to(device), model);
    const after = [...model.parameters(), ...model.buffers()];
    assert.ok(after.every((tensor, i) => tensor === before[i] && tensor.device === device));
    assert.deepEqual(
      after.map((tensor) => tensor.arraySync()),
      values,
    );
    const [first] = model.parameters();
    assert.deepEqual([first.grad.device, first.grad.arraySync()], [device, gradient]);
    assert.ok(first.isLeaf && first.requiresGrad);
    const there = model.to({ device: "cpu" });
    assert.ok([...there.parameters(), ...there.buffers()].every((t) => t.device === "cpu"));
  });

  test("takes dtypes with the device", () => {
    const model = makeModel().to("float64");
    model.to({ device, dtype: "float32" });
    for (const parameter of model.parameters())
      assert.deepEqual([parameter.device, parameter.dtype], [device, "float32"]);
    model.to("cpu", "float64");
    assert.equal(model.parameters()[0].dtype, "float64");
  });

  test("moves nothing when a part cannot be moved", () => {
    const wide = makeModel().to("float64");
    assertThrows(() => wide.to(device), "DtypeMismatch", /float32/);
    assert.ok(wide.parameters().every((t) => t.device === "cpu"));
  });

  test("leaves an optimizer that has not begun its parameters", () => {
    const losses = ["cpu", device].map((where) => {
      eg.manualSeed(5);
      const model = makeModel();
      const optimizer = new optim.Adam(model.parameters(), { lr: 0.1 });
      model.to(where);
      const x = eg.randn([5, 3]).to(where);
      return [step(model, optimizer, x), step(model, optimizer, x), step(model, optimizer, x)];
    });
    assertClose(losses[1], losses[0], { rtol: 1e-5 });
    assert.ok(losses[0][2] < losses[0][0]);
  });

  // As in PyTorch, whose optimizers do not move their state.
  test("after the first step has the optimizer refuse, and change nothing", () => {
    const model = makeModel();
    const optimizer = new optim.Adam(model.parameters());
    step(model, optimizer, eg.ones([5, 3]));
    model.to(device);
    model
      .call(eg.randn([5, 3], { device }))
      .sum()
      .backward();
    const values = () => model.parameters().map((parameter) => parameter.arraySync());
    const before = values();
    assertThrows(() => optimizer.step(), "DeviceMismatch", /cpu.*webgpu|webgpu.*cpu/);
    assert.deepEqual(values(), before);
  });
});

describe("saved models", options, () => {
  const { loadSafetensors, saveSafetensors } = eg.io;

  test("go from the device to a file and straight back to it", () => {
    const model = makeModel().to(device);
    const bytes = saveSafetensors(model.stateDict());
    const state = loadSafetensors(bytes, { device });
    assert.ok(Object.values(state).every((tensor) => tensor.device === device));
    for (const [name, tensor] of Object.entries(model.stateDict()))
      assert.deepEqual(state[name].arraySync(), tensor.arraySync(), name);
    assert.ok(Object.values(loadSafetensors(bytes)).every((tensor) => tensor.device === "cpu"));
  });

  test("that the device cannot hold are refused, and nothing is left behind", () => {
    const bytes = saveSafetensors({ a: eg.ones([3]), b: eg.ones([3], { dtype: "float64" }) });
    const before = eg.memory().jsHandles;
    assertThrows(() => loadSafetensors(bytes, { device }), "DtypeMismatch", /float32/);
    assert.equal(eg.memory().jsHandles, before);
    assertThrows(() => loadSafetensors(bytes, { device: "cuda" }), "InvalidArgument", /webgpu/);
    assertThrows(() => loadSafetensors(bytes, { devcie: device }), "InvalidArgument", /"device"/);
  });

  test("load into modules on any device", () => {
    const source = makeModel().to(device);
    const target = makeModel();
    target.loadStateDict(source.stateDict());
    assert.equal(target.parameters()[0].device, "cpu");
    const back = makeModel().to(device);
    back.loadStateDict(target.stateDict());
    assert.equal(back.parameters()[0].device, device);
    const expected = source.parameters().map((parameter) => parameter.arraySync());
    for (const model of [target, back]) {
      assert.deepEqual(
        model.parameters().map((parameter) => parameter.arraySync()),
        expected,
      );
    }
  });

  test("continue with the state of their optimizer, loaded from any device", () => {
    const makers = [
      (params) => new optim.Adam(params, { amsgrad: true }),
      (params) => new optim.SGD(params, { lr: 0.1, momentum: 0.9 }),
      (params) => new optim.RMSprop(params, { centered: true }),
      (params) => new optim.Adagrad(params),
    ];
    for (const makeOptimizer of makers) {
      const x = eg.randn([5, 3]);
      const first = makeModel();
      const trained = makeOptimizer(first.parameters());
      step(first, trained, x);
      const second = makeModel().to(device);
      second.loadStateDict(first.stateDict());
      const resumed = makeOptimizer(second.parameters());
      resumed.loadStateDict(trained.stateDict());
      const losses = [step(second, resumed, x.to(device)), step(second, resumed, x.to(device))];
      assertClose(losses, [step(first, trained, x), step(first, trained, x)], { rtol: 1e-5 });
      const [state] = Object.values(resumed.stateDict().state);
      const name = Object.keys(state).find((key) => key !== "step");
      assert.equal(state[name].device, device);
    }
  });
});

describe("data, gradients and checks of the device", options, () => {
  test("come in batches of a dataset that is there", async () => {
    const rows = onGpu([[1], [2], [3], [4], [5]]);
    const dataset = new eg.data.TensorDataset(rows, rows.reshape(-1).to("int64"));
    const seen = [];
    for await (const [x, classes] of new eg.data.DataLoader(dataset, { batchSize: 2 })) {
      assert.deepEqual([x.device, classes.device], [device, device]);
      seen.push(...(await x.reshape(-1).array()));
    }
    assert.deepEqual(seen, [1, 2, 3, 4, 5]);
    assert.equal(dataset.get(1)[0].device, device);
  });

  test("are clipped and optimized together with the CPU's", () => {
    const params = [eg.tensor([3], { requiresGrad: true }), leaf([4])];
    for (const param of params) param.square().mul(0.5).sum().backward();
    const norm = nn.utils.clipGradNorm_(params, 1);
    // 3, 4 and 5 are the sides of a right triangle.
    assertTensor(norm, [5], { rtol: 1e-6 });
    assertTensor(params[0].grad, [0.6], { rtol: 1e-5 });
    assertTensor(params[1].grad, [0.8], { rtol: 1e-5 });
    new optim.SGD(params, { lr: 1 }).step();
    assertTensor(params[0].detach(), [2.4], { rtol: 1e-5 });
    assertTensor(params[1].detach(), [3.2], { rtol: 1e-5 });
    assert.deepEqual(
      params.map((param) => param.grad.device),
      ["cpu", device],
    );
  });

  test("pass gradcheck, with what float32 is good for", () => {
    const { gradcheck, gradgradcheck } = eg.autograd;
    const tolerance = { eps: 1e-2, atol: 1e-2, rtol: 1e-2 };
    const x = leaf([0.5, -1, 2]);
    assert.equal(
      gradcheck((t) => t.square().mul(t), x, tolerance),
      true,
    );
    assert.equal(
      gradgradcheck((t) => t.square(), x, tolerance),
      true,
    );
  });

  test("are read where the CPU's functions look: compare, print, iterate", () => {
    const like = () => onGpu([[1, 2], [3, 4]]); // biome-ignore format: a matrix
    const x = like();
    assert.ok(eg.allclose(x, like()) && eg.equal(x, like()));
    assert.deepEqual(
      [...x].map((row) => row.arraySync()),
      [[1, 2], [3, 4]], // biome-ignore format: a matrix
    );
    assert.equal(JSON.stringify(x), "[[1,2],[3,4]]");
    assertTensor(eg.tensor([x.at(0), x.at(1)]), [1, 2, 3, 4]);
    assertTensor(x.at(eg.tensor([1n])), [3, 4]);
  });
});
