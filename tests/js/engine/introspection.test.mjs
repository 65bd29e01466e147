// Inspecting the backward graph: nodes, edges, drawings, profiles.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, nodeNames, values } from "../support/graphs.mjs";

describe("gradFn", () => {
  test("has PyTorch's name and leads to the nodes of the inputs", () => {
    // rule: node-names, node-introspection, no-edge-without-grad
    const [w, x] = [leaf([3]), eg.tensor([2])];
    const y = w.mul(x);
    assert.equal(y.gradFn.name, "MulBackward0");
    const [[accumulator, position], constant] = y.gradFn.nextFunctions;
    assert.equal(accumulator.name, "AccumulateGrad");
    assert.equal(position, 0);
    assert.deepEqual(constant, [null, 0]);
    assert.deepEqual(accumulator.nextFunctions, []);
    assertTensor(accumulator.variable, [3]);
    assert.equal(y.gradFn.variable, null);
    assert.equal(w.gradFn, null);
    y.backward();
    assert.equal(x.grad, null);
    assert.deepEqual(nodeNames(y.exp()), ["ExpBackward0", "MulBackward0", "AccumulateGrad"]);
  });

  test("is the same object for the same node", () => {
    // rule: node-introspection
    const x = leaf([1]);
    const y = x.mul(2);
    const node = y.gradFn;
    assert.equal(y.gradFn, node);
    assert.equal(y.exp().gradFn.nextFunctions[0][0], node);
    assert.notEqual(x.mul(2).gradFn, node);
    y.add_(1);
    assert.equal(y.gradFn.name, "AddBackward0");
    assert.equal(y.gradFn.nextFunctions[0][0], node);
  });

  test("is numbered by age and by height", () => {
    // rule: sequence-number, topological-number
    const x = leaf([1]);
    const h = x.exp();
    const m = h.exp();
    const o = m.exp();
    const s = x.exp().exp().exp();
    const t = o.add(s);
    assert.deepEqual(
      [h, m, o, s, t].map((one) => one.gradFn.topologicalNr),
      [1, 2, 3, 3, 4],
    );
    const ages = [h, m, o, s, t].map((one) => one.gradFn.sequenceNr);
    assert.deepEqual(
      ages,
      [...ages].sort((a, b) => a - b),
    );
    const [[accumulator]] = h.gradFn.nextFunctions;
    assert.equal(accumulator.sequenceNr, 2 ** 64);
    assert.equal(accumulator.topologicalNr, 0);
  });

  test("says which output of an operation a tensor is", () => {
    // rule: output-number
    const parts = eg.unbind(leaf([1, 2, 3]));
    assert.deepEqual(
      parts.map((part) => part.outputNr),
      [0, 1, 2],
    );
    assert.equal(parts[0].gradFn, parts[2].gradFn);
    assert.equal(parts[0].gradFn.name, "UnbindBackward0");
  });

  test("keeps metadata as long as the node lives", async () => {
    // rule: node-metadata
    const y = leaf([1]).mul(2);
    y.gradFn.metadata.note = { any: "value" };
    await collectGarbage();
    assert.deepEqual(y.gradFn.metadata, { note: { any: "value" } });
    assert.deepEqual(y.exp().gradFn.metadata, {});
  });

  test("is freed by the scope it was looked at in, or by the garbage collector", async () => {
    const x = leaf([1]);
    assertFlat(() => {
      let node = x.exp().exp().gradFn;
      while (node !== null) node = node.nextFunctions[0]?.[0] ?? null;
    });
    const y = x.exp();
    const node = eg.scope(() => void y.gradFn.name);
    assert.equal(node, undefined);
    let kept;
    eg.scope(() => {
      kept = y.exp().gradFn;
    });
    assertThrows(() => kept.name, "Disposed", /has been disposed/);
    const returned = eg.scope(() => y.exp().gradFn);
    assert.equal(returned.name, "ExpBackward0");

    const { graphNodes } = eg.memory();
    (() => {
      for (let i = 0; i < 100; i++) x.exp().gradFn.nextFunctions;
    })();
    await collectGarbage();
    assert.ok(eg.memory().graphNodes <= graphNodes + 5);
  });

  test("reaches the bottom of a deep graph", () => {
    // rule: deep-graph
    eg.scope(() => {
      let y = leaf([1]);
      for (let i = 0; i < 20_000; i++) y = y.mul(1);
      assert.equal(nodeNames(y).length, 20_001);
      y.backward();
    });
  });
});

describe("gradient edges", () => {
  test("stand for the value a tensor had", () => {
    // rule: gradient-edge-as-input
    const { getGradientEdge } = eg.autograd.graph;
    const x = leaf([1, 1]).clone();
    const edge = getGradientEdge(x);
    x.mul_(2);
    const [before, after] = eg.autograd.grad(x.sum(), [edge, x]);
    assertTensor(before, [2, 2]);
    assertTensor(after, [1, 1]);
    assertThrows(
      () => getGradientEdge(eg.ones([1])),
      "NoGradPath",
      /does not require a gradient, so it has no gradient edge/,
    );
  });
});

describe("batches of gradients", () => {
  test("give a batch of results", () => {
    // rule: batched-gradients
    const x = leaf([1, 2]);
    const y = x.mul(x);
    const gradOutputs = eg.eye(2);
    const [jacobian] = eg.autograd.grad(y, x, { gradOutputs, isGradsBatched: true });
    assertTensor(jacobian, [2, 0, 0, 4], { shape: [2, 2] });
    assertThrows(
      () => eg.autograd.grad(x.mul(x), x, { gradOutputs: eg.ones([2, 3]), isGradsBatched: true }),
      "ShapeMismatch",
      /gradient 0 needs a batch dimension/,
    );
  });
});

describe("toDot", () => {
  test("draws every node once, leaves by name, and saved tensors on request", () => {
    const model = new eg.nn.Linear(2, 3);
    const x = leaf([[1, 2]]);
    const y = model.call(x).tanh().sum();
    const dot = eg.autograd.toDot(y, { params: model.namedParameters() });
    assert.match(dot, /^digraph \{\n[\s\S]*\}\n$/);
    assert.equal(dot.match(/TanhBackward0/g).length, 1);
    assert.match(dot, /label="weight\\n\(3, 2\)" fillcolor=lightblue/);
    assert.match(dot, /label="bias\\n\(3\)"/);
    assert.match(dot, /label="\(1, 2\)" fillcolor=lightblue/);
    assert.equal(dot.includes("orange"), false);
    const saved = eg.autograd.toDot(y, { params: { w: model.weight }, showSaved: true });
    assert.match(saved, /label="result\\n\(1, 3\)" fillcolor=orange/);
    assert.match(saved, /label="w\\n/);
    const edges = dot.match(/ -> /g).length;
    const boxes = dot.match(/label=/g).length;
    assert.equal(edges, boxes - 1, "this graph is a tree");
    assert.match(eg.autograd.toDot(eg.ones([2])), /label="\(2\)"/);
  });

  test("draws what is left of a graph that was freed, and leaves nothing behind", () => {
    const x = leaf([1]);
    const y = x.exp().sin();
    y.backward();
    const dot = eg.autograd.toDot(y, { showSaved: true });
    assert.match(dot, /SinBackward0/);
    assert.equal(dot.includes("orange"), false);
    const { jsHandles } = eg.memory();
    eg.autograd.toDot(y, { params: { x } });
    assert.equal(eg.memory().jsHandles, jsHandles);
  });

  test("draws a node that two others use once", () => {
    const x = leaf([1]);
    const h = x.exp();
    const dot = eg.autograd.toDot(h.mul(h).add(h));
    assert.equal(dot.match(/ExpBackward0/g).length, 1);
    assert.equal(dot.match(/AccumulateGrad/g).length, 1);
  });
});

describe("profile", () => {
  test("records every node that backward runs", () => {
    // rule: profiler-events
    const x = leaf([1, 2]);
    const { result, events } = eg.autograd.profile(() => {
      const y = x.mul(x).exp().sum();
      y.backward();
      return values(x.grad).length;
    });
    assert.equal(result, 2);
    assert.deepEqual(
      events.map((event) => event.name),
      ["SumBackward0", "ExpBackward0", "MulBackward0", "AccumulateGrad"],
    );
    for (const [i, event] of events.entries()) {
      assert.equal(event.device, "cpu");
      assert.equal(event.thread, events[0].thread);
      assert.ok(event.duration >= 0 && event.start >= (events[i - 1]?.start ?? 0));
    }
    x.mul(x).sum().backward();
    assert.equal(events.length, 4);
    assert.deepEqual(eg.autograd.profile(() => 1).events, []);
  });

  test("is saved as a Chrome trace", () => {
    const { events } = eg.autograd.profile(() => leaf([1]).exp().backward());
    const [trace] = JSON.parse(JSON.stringify(events));
    assert.equal(trace.name, "autograd::engine::evaluate_function: ExpBackward0");
    assert.equal(trace.ph, "X");
    assert.equal(trace.ts, events[0].start * 1000);
    assert.equal(trace.dur, events[0].duration * 1000);
    assert.equal(trace.tid, events[0].thread);
  });

  test("ends with its function, also by an error, and refuses promises", () => {
    assert.throws(
      () =>
        eg.autograd.profile(() => {
          throw new Error("stop");
        }),
      /stop/,
    );
    assertThrows(() => eg.autograd.profile(async () => 1), "InvalidArgument", /promise/);
    const { began, events, result } = eg.autograd.profile(() => {
      leaf([1]).exp().backward();
      return eg.autograd.profile(() => leaf([1]).sin().backward());
    });
    assert.deepEqual(result.events.length, 2);
    assert.deepEqual(events.length, 4);
    // The inner profile counts from its own beginning. The engine's clock is read beside performance.now(), not exactly with it.
    assert.ok(began <= result.began);
    for (const [i, { start }] of result.events.entries())
      assert.ok(Math.abs(began + events[i + 2].start - (result.began + start)) < 0.5);
  });
});
