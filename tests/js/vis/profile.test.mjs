// profileStep(): which ops and nodes ran, for which layer, and how their times are added up.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { profileStep } from "edgegrad/vis";
import { eg } from "../support/engine.mjs";

const { nn, optim } = eg;

describe("a profile of a step", () => {
  const model = new nn.Sequential(new nn.Linear(8, 16), new nn.ReLU(), new nn.Linear(16, 1));
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1 });
  const x = eg.ones([4, 8]);
  const step = () => {
    const loss = model.call(x).square().mean();
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
  };

  /** Asserts that calls and nodes are on one clock: backward is between the loss and the optimizer. Clocks may be coarse. */
  function assertOneClock({ events }) {
    const loss = events.find(({ name }) => name === "mean");
    const update = events.find(({ name }) => name === "sgdStep_");
    for (const { start, phase } of events)
      if (phase === "backward") assert.ok(start >= loss.start - 0.5 && start <= update.start + 0.5);
  }

  test("has every op and every node, with its layer, phase and thread", () => {
    const before = performance.now();
    const found = profileStep(model, step);
    const whole = performance.now() - before;
    const named = (phase) =>
      found.events
        .filter((event) => event.phase === phase && event.name !== "AccumulateGrad")
        .map(({ name, layer }) => [name, layer]);
    assert.deepEqual(named("forward"), [
      ["linear", "0"],
      ["relu", "1"],
      ["linear", "2"],
      ["square", ""],
      ["mean", ""],
    ]);
    assert.deepEqual(named("other"), [["sgdStep_", ""]]);
    const backward = named("backward");
    assert.deepEqual(
      backward.filter(([name]) => /Addmm|Relu/.test(name)),
      [
        ["AddmmBackward0", "2"],
        ["ReluBackward0", "1"],
        ["AddmmBackward0", "0"],
      ],
    );
    assert.equal(found.events.filter(({ name }) => name === "AccumulateGrad").length, 4);
    for (const { start, duration, thread, phase } of found.events) {
      assert.ok(start >= 0 && duration >= 0 && start + duration <= whole + 1);
      assert.match(thread, phase === "backward" ? /^thread \d+$/ : /^JavaScript$/);
    }
    assert.ok(found.time <= whole);
    assertOneClock(found);
  });

  test("has nodes and calls on one clock, also within a longer profile", () => {
    const { result } = eg.autograd.profile(() => {
      // Long enough that two clocks with different beginnings would show.
      for (const end = performance.now() + 5; performance.now() < end; ) step();
      return profileStep(model, step);
    });
    assertOneClock(result);
  });

  test("adds times up by op, layer and thread", () => {
    const found = profileStep(model, step);
    const total = found.events.reduce((sum, { duration }) => sum + duration, 0);
    for (const rows of [found.byOp(), found.byLayer(), found.byThread()]) {
      const sumOf = (name) => rows.reduce((sum, row) => sum + row[name], 0);
      assert.ok(Math.abs(sumOf("time") - total) < 1e-6);
      assert.ok(Math.abs(sumOf("share") - 1) < 1e-6);
      assert.equal(sumOf("calls"), found.events.length);
      rows.slice(1).forEach(({ time }, i) => {
        assert.ok(time <= rows[i].time);
      });
    }
    assert.equal(found.byOp().find(({ name }) => name === "linear").calls, 2);
    const first = found.events.filter(({ layer }) => layer === "0");
    assert.equal(found.byLayer().find(({ name }) => name === "0").calls, first.length);
    assert.match(String(found), /^Op +Calls +Time +Share\n─+\n/);
    assert.match(String(found), /\nThe whole step: [\d.]+ ms$/);
    const trace = JSON.parse(JSON.stringify(found));
    assert.equal(trace.length, found.events.length);
    assert.deepEqual(Object.keys(trace[0]), [
      "name",
      "cat",
      "ph",
      "ts",
      "dur",
      "pid",
      "tid",
      "args",
    ]);
  });

  test("leaves the model without hooks, also after an error", () => {
    const error = new Error("no");
    const fails = () =>
      profileStep(model, () => {
        model.call(x);
        throw error;
      });
    assert.throws(fails, (thrown) => thrown === error);
    step();
    assert.equal(profileStep(model, () => {}).events.length, 0);
  });

  test("is refused for what is no step", () => {
    assert.throws(() => profileStep({}, step), { code: "InvalidArgument" });
    assert.throws(() => profileStep(model, 5), { code: "InvalidArgument" });
    assert.throws(() => profileStep(model, async () => {}), { code: "InvalidArgument" });
  });
});
