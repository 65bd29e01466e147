// Hooks of optimizers, and the warning about the order of steps.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

/** Returns an optimizer of one parameter that has the gradient 1. */
function optimizerOf(make = (params) => new eg.optim.SGD(params, { lr: 1, momentum: 0.5 })) {
  const param = leaf([10]);
  param.sum().backward();
  return { param, optimizer: make([param]) };
}

describe("hooks of step()", () => {
  test("run before and after it, with its arguments, until they are removed", () => {
    const { param, optimizer } = optimizerOf();
    const log = [];
    const handles = [
      optimizer.registerStepPreHook((self, args) => {
        log.push(["before", self === optimizer, args.length, param.item()]);
      }),
      optimizer.registerStepPostHook((self, args) => {
        log.push(["after", self === optimizer, args.length, param.item()]);
      }),
    ];
    assert.equal(optimizer.step(), undefined);
    assert.equal(
      optimizer.step(() => 7),
      7,
    );
    assert.deepEqual(log, [
      ["before", true, 0, 10],
      ["after", true, 0, 9],
      ["before", true, 1, 9],
      ["after", true, 1, 7.5],
    ]);
    for (const handle of handles) handle.remove();
    optimizer.step();
    assert.equal(log.length, 4);
  });

  test("may replace the arguments", () => {
    const { optimizer } = optimizerOf();
    const handle = optimizer.registerStepPreHook((_, [closure]) => [() => closure() + 1]);
    assert.equal(
      optimizer.step(() => 1),
      2,
    );
    handle.remove();
    optimizer.registerStepPreHook(() => 5);
    assertThrows(() => optimizer.step(), "InvalidArgument", /nothing, or an array of arguments/);
    assertThrows(() => optimizer.registerStepPostHook(5), "InvalidArgument", /expected a function/);
  });

  test("of all optimizers run around an optimizer's own, until they are removed", () => {
    class Mine extends eg.optim.Optimizer {
      constructor(params) {
        super(params, { lr: 1 });
      }

      step() {
        return super.step();
      }

      plan() {
        return [];
      }
    }
    const makers = [
      undefined,
      (params) => new Mine(params),
      (params) => new eg.optim.LBFGS(params),
    ];
    for (const make of makers) {
      const { optimizer } = optimizerOf(make);
      const log = [];
      const note = (what) => (self) => void log.push([what, self === optimizer]);
      const handles = [
        eg.optim.registerOptimizerStepPreHook(note("all before")),
        eg.optim.registerOptimizerStepPostHook(note("all after")),
      ];
      const step = () => optimizer.step(() => eg.tensor(1));
      step();
      assert.deepEqual(log.splice(0), [
        ["all before", true],
        ["all after", true],
      ]);
      optimizer.registerStepPreHook(note("before"));
      optimizer.registerStepPostHook(note("after"));
      step();
      const names = log.splice(0).map(([name]) => name);
      assert.deepEqual(names, ["all before", "before", "after", "all after"]);
      for (const handle of handles) handle.remove();
      step();
      assert.deepEqual(
        log.map(([name]) => name),
        ["before", "after"],
      );
    }
    assertThrows(() => eg.optim.registerOptimizerStepPreHook(1), "InvalidArgument", /a function/);
  });

  test("of all optimizers run again after a step that failed", () => {
    const { optimizer } = optimizerOf();
    let count = 0;
    const handles = [
      eg.optim.registerOptimizerStepPreHook(() => {
        count++;
      }),
    ];
    const failing = () => {
      throw new Error("closure");
    };
    assert.throws(() => optimizer.step(failing), /closure/);
    optimizer.step();
    assert.equal(count, 2);
    for (const handle of handles) handle.remove();
  });

  test("run around a step() that a program defines, and that of LBFGS", () => {
    class Mine extends eg.optim.Optimizer {
      constructor(params) {
        super(params, { lr: 1 });
      }
      step() {
        return "mine";
      }
    }
    for (const make of [
      (params) => new Mine(params),
      (params) => new eg.optim.LBFGS(params, { maxIter: 1 }),
    ]) {
      const { param, optimizer } = optimizerOf(make);
      const log = [];
      optimizer.registerStepPreHook(() => void log.push("before"));
      optimizer.registerStepPostHook(() => void log.push("after"));
      optimizer.step(() => {
        optimizer.zeroGrad();
        const loss = param.mul(param).sum();
        loss.backward();
        return loss;
      });
      assert.deepEqual(log, ["before", "after"]);
    }
  });
});

describe("hooks of an optimizer's state dict", () => {
  test("run around stateDict() and may replace its result", () => {
    const { optimizer } = optimizerOf();
    const log = [];
    optimizer.registerStateDictPreHook((self) => void log.push(self === optimizer));
    optimizer.registerStateDictPostHook((_, state) => ({ ...state, extra: 1 }));
    optimizer.registerStateDictPostHook((_, state) => void log.push(Object.keys(state)));
    optimizer.registerStateDictPostHook((_, state) => void log.push(Object.keys(state)), {
      prepend: true,
    });
    assert.deepEqual(Object.keys(optimizer.stateDict()), ["state", "param_groups", "extra"]);
    assert.deepEqual(log, [true, ["state", "param_groups"], ["state", "param_groups", "extra"]]);
  });

  test("run around loadStateDict(), on a copy", () => {
    const { optimizer } = optimizerOf();
    optimizer.step();
    const saved = optimizer.stateDict();
    const log = [];
    const handle = optimizer.registerLoadStateDictPreHook((self, state) => {
      log.push(self === optimizer);
      state.state = {};
    });
    optimizer.registerLoadStateDictPreHook((_, state) => {
      const groups = state.param_groups.map((group) => ({ ...group, lr: 0.25 }));
      return { ...state, param_groups: groups };
    });
    optimizer.registerLoadStateDictPostHook((self) => void log.push(self.paramGroups[0].lr));
    optimizer.loadStateDict(saved);
    assert.deepEqual(log, [true, 0.25]);
    assert.deepEqual(optimizer.stateDict().state, {});
    assertTensor(saved.state[0].momentum_buffer, [1]);
    handle.remove();
    optimizer.registerLoadStateDictPreHook(() => ({}));
    assertThrows(
      () => optimizer.loadStateDict(saved),
      "InvalidArgument",
      /expected the result of stateDict/,
    );
  });
});

test("a scheduler whose first step comes before the optimizer's warns, once", (t) => {
  const warn = t.mock.method(console, "warn", () => {});
  const make = () => {
    const { optimizer } = optimizerOf();
    return { optimizer, scheduler: new eg.optim.lrScheduler.StepLR(optimizer, 1) };
  };
  const right = make();
  const second = new eg.optim.lrScheduler.ExponentialLR(right.optimizer, 0.5);
  right.optimizer.registerStepPostHook(() => {});
  right.optimizer.step();
  right.scheduler.step();
  second.step();
  right.optimizer.step();
  assert.equal(warn.mock.callCount(), 0);
  // The optimizer has its own step() again.
  const plain = make();
  plain.optimizer.step();
  assert.ok(!Object.hasOwn(plain.optimizer, "step"));
  for (let i = 0; i < 2; i++) {
    const { scheduler } = make();
    scheduler.step();
    scheduler.step();
  }
  assert.equal(warn.mock.callCount(), 1);
  assert.match(
    warn.mock.calls[0].arguments[0],
    /\[StepLR.step\] was called before step\(\) of the optimizer/,
  );
  const before = eg.setWarnAlways(true);
  make().scheduler.step();
  eg.setWarnAlways(before);
  assert.equal(warn.mock.callCount(), 2);
});
