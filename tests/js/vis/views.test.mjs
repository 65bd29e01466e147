// The data of views: memory by kind, the backward graph, points in fewer dimensions.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLog, memoryByKind, pca, recordMemory, tapeGraph, umap } from "edgegrad/vis";
import { UMAP } from "umap-js";
import { eg } from "../support/engine.mjs";

const { nn, optim } = eg;

describe("memory by kind", () => {
  test("counts parameters, gradients, buffers, the optimizer's state, and the rest", () => {
    const model = new nn.Sequential(new nn.Linear(8, 4), new nn.BatchNorm1d(4));
    const optimizer = new optim.Adam(model.parameters());
    const parameters = (8 * 4 + 4 + 4 + 4) * 4;
    assert.deepEqual(
      { ...memoryByKind(model, optimizer), other: 0 },
      {
        ...{ parameters, gradients: 0, buffers: 2 * 4 * 4 + 8, optimizer: 0, other: 0 },
      },
    );
    eg.scope(() => {
      model
        .call(eg.randn([4, 8]))
        .sum()
        .backward();
      optimizer.step();
    });
    const after = memoryByKind(model, optimizer);
    assert.equal(after.gradients, parameters);
    assert.equal(after.optimizer, 2 * parameters);
    const { cpuBytes, gpuBytes } = eg.memory();
    assert.equal(
      Object.values(after).reduce((a, b) => a + b),
      cpuBytes + gpuBytes,
    );
    const run = createLog().run("a");
    recordMemory(run, 3, model, optimizer);
    assert.equal(run.latest("scalar", "memory/gradients").value, parameters);
    assert.equal(run.tags("scalar").length, 5);
  });

  test("is refused for what has none", () => {
    const run = createLog().run("a");
    for (const call of [() => memoryByKind({}), () => memoryByKind(undefined, 5)])
      assert.throws(call, { code: "InvalidArgument" });
    assert.throws(() => recordMemory({}, 1), { code: "InvalidArgument" });
    assert.throws(() => recordMemory(run, -1), { code: "InvalidArgument" });
  });
});

describe("a tape graph", () => {
  test("has the nodes of backward once each, with the names of parameters", () => {
    const model = new nn.Sequential(new nn.Linear(2, 2), new nn.ReLU());
    const hidden = model.call(eg.ones([1, 2]));
    const loss = hidden.mul(hidden).sum();
    const { jsHandles } = eg.memory();
    const { nodes, edges } = tapeGraph(loss, model);
    assert.equal(eg.memory().jsHandles, jsHandles);
    assert.deepEqual(nodes[0], { name: "SumBackward0", detail: "" });
    const details = nodes.filter(({ name }) => name === "AccumulateGrad").map((one) => one.detail);
    assert.deepEqual(details.sort(), ["0.bias", "0.weight"]);
    const relu = nodes.findIndex(({ name }) => name === "ReluBackward0");
    assert.equal(edges.filter(({ to }) => to === relu).length, 2);
    assert.equal(nodes.length, 6);
    assert.deepEqual(structuredClone({ nodes, edges }), { nodes, edges });
  });

  test("is refused without a graph, or with one too large to draw", () => {
    assert.throws(() => tapeGraph(eg.ones([1])), { code: "NoGradPath" });
    assert.throws(() => tapeGraph(5), { code: "InvalidArgument" });
    let long = eg.ones([1], { requiresGrad: true });
    for (let i = 0; i < 600; i++) long = long.add(1);
    assert.throws(() => tapeGraph(long), { code: "InvalidArgument", message: /more than 500/ });
  });
});

describe("points in fewer dimensions", () => {
  test("PCA finds the directions in which points differ most, always with the same sign", () => {
    const along = eg.arange(5, { dtype: "float32" }).sub(2);
    const points = eg.stack([along.mul(3).add(7), along.mul(4), along.mul(0)], 1);
    const { tensors } = eg.memory();
    const found = pca(points, 2);
    assert.equal(eg.memory().tensors, tensors + 1);
    assert.deepEqual(found.shape, [5, 2]);
    const [first, second] = found.t().tolist();
    for (const [i, value] of first.entries())
      assert.ok(Math.abs(value - 5 * (i - 2)) < 1e-4, `${first}`);
    for (const value of second) assert.ok(Math.abs(value) < 1e-4);
  });

  test("UMAP keeps two groups apart, and is the same for the same seed", () => {
    const groups = [0, 50].map((center) => eg.rand([10, 6]).add(center));
    const points = eg.cat(groups);
    const found = umap(points, { UMAP, neighbors: 5, seed: 3 });
    assert.deepEqual(found, umap(points, { UMAP, neighbors: 5, seed: 3 }));
    const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    const nearest = found.map((point, i) => {
      const others = found.map((other, j) =>
        i === j ? Number.POSITIVE_INFINITY : distance(point, other),
      );
      return others.indexOf(Math.min(...others));
    });
    for (const [i, j] of nearest.entries()) assert.equal(j < 10, i < 10);
  });

  test("are refused for what are no points", () => {
    const points = eg.rand([4, 3]);
    const kWrong = [
      () => pca(eg.ones([3])),
      () => pca(eg.ones([1, 3])),
      () => pca(points, 4),
      () => pca([[1, 2]]),
      () => umap(points, {}),
      () => umap(points, { UMAP, neighbors: 4 }),
    ];
    for (const call of kWrong) assert.throws(call, { code: "InvalidArgument" });
  });
});
