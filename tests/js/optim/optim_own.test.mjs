// Optimizers and schedulers that a program defines by extending the base classes, and the text of optimizers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { optim } = eg;
const { BaseScheduler, LRScheduler, StepLR } = optim.lrScheduler;

// Implements nothing but step(), without noGrad.
class Momentum extends optim.Optimizer {
  constructor(params, lr = 0.1) {
    super(params, { lr });
  }

  step(closure) {
    const loss = closure?.();
    for (const { params, lr } of this.paramGroups) {
      for (const p of params) {
        if (p.grad === null) continue;
        if (!this.state.has(p)) this.state.set(p, { average: eg.zerosLike(p), steps: 0 });
        const state = this.state.get(p);
        state.average.mul_(0.9).add_(p.grad);
        state.steps++;
        p.add_(state.average, -lr);
      }
    }
    return loss;
  }
}

const newParameter = () => new eg.nn.Parameter(eg.tensor([1, -2]));
const isAbove = (a, b) => assert.ok(a > b, `${a} > ${b}`);

describe("an optimizer that only implements step()", () => {
  test("steps like the same one of the package, with a scheduler", () => {
    const trained = (make) => {
      const p = newParameter();
      const optimizer = make([p]);
      const scheduler = new StepLR(optimizer, 2, 0.5);
      for (let i = 0; i < 5; i++) {
        optimizer.zeroGrad();
        p.square().sum().backward();
        optimizer.step();
        scheduler.step();
      }
      return p.arraySync();
    };
    assert.deepEqual(
      trained((params) => new Momentum(params)),
      trained((params) => new optim.SGD(params, { lr: 0.1, momentum: 0.9 })),
    );
  });

  test("steps without recording, while its closure records", () => {
    const seen = [];
    class Seeing extends Momentum {
      step(closure) {
        seen.push(eg.isGradEnabled());
        return super.step(closure);
      }
    }
    const p = newParameter();
    const optimizer = new Seeing([p]);
    const loss = optimizer.step(() => {
      seen.push(eg.isGradEnabled());
      const value = p.square().sum();
      value.backward();
      return value;
    });
    assert.deepEqual(seen, [false, true]);
    assert.equal(loss.item(), 5);
    assert.ok(eg.isGradEnabled());
    isAbove(5, p.square().sum().item());
  });

  test("passes on the other arguments and what is thrown, and ends the mode", () => {
    class Failing extends Momentum {
      step(closure, message) {
        closure?.();
        throw new RangeError(message);
      }
    }
    const optimizer = new Failing([newParameter()]);
    assert.throws(() => optimizer.step(undefined, "stop"), { name: "RangeError", message: "stop" });
    assert.throws(() => optimizer.step(() => 1, "again"), { message: "again" });
    assert.ok(eg.isGradEnabled());
  });

  test("is refused if it is async", () => {
    class Late extends Momentum {
      async step() {
        await null;
        throw new Error("nobody hears this");
      }
    }
    const optimizer = new Late([newParameter()]);
    assertThrows(() => optimizer.step(), "InvalidArgument", /^\[Late\.step\].*synchronous/);
    const wait = () => new Momentum([newParameter()]).step(async () => 1);
    assertThrows(wait, "InvalidArgument", /^\[Momentum\.step\] closure/);
  });

  test("may extend an optimizer of the package", () => {
    class Clipped extends optim.SGD {
      step(closure) {
        eg.nn.utils.clipGradValue_(this.paramGroups[0].params, 0.5);
        return super.step(closure);
      }
    }
    const p = newParameter();
    p.square().sum().backward();
    new Clipped([p], { lr: 1 }).step();
    assert.deepEqual(p.arraySync(), [0.5, -1.5]);
  });
});

describe("a scheduler that a program defines", () => {
  const newOptimizer = () => new optim.SGD([newParameter()], { lr: 1 });

  for (const Base of [BaseScheduler, LRScheduler]) {
    test(`may implement nothing but step(): ${Base.name}`, () => {
      class Halving extends Base {
        step() {
          this.lastEpoch++;
          for (const group of this.optimizer.paramGroups) group.lr /= 2;
        }
      }
      const optimizer = newOptimizer();
      const scheduler = new Halving(optimizer);
      assert.deepEqual(scheduler.getLastLr(), [1]);
      for (const lr of [0.5, 0.25]) {
        scheduler.step();
        assert.deepEqual(scheduler.getLastLr(), [lr]);
        assert.equal(optimizer.paramGroups[0].lr, lr);
      }
      const other = new Halving(newOptimizer());
      other.loadStateDict(scheduler.stateDict());
      assert.equal(other.lastEpoch, scheduler.lastEpoch);
    });
  }

  class WarmUp extends LRScheduler {
    constructor(optimizer, epochs) {
      super(optimizer);
      this.epochs = epochs;
      this.start();
    }

    nextLrs() {
      return this.baseLrs.map((lr) => lr * Math.min(1, (this.lastEpoch + 1) / this.epochs));
    }
  }

  test("may implement a formula, and then begins with its first epoch", () => {
    const optimizer = newOptimizer();
    const scheduler = new WarmUp(optimizer, 4);
    const rates = [scheduler.getLastLr()[0]];
    for (let i = 0; i < 4; i++) {
      scheduler.step();
      rates.push(optimizer.paramGroups[0].lr);
    }
    assert.deepEqual(rates, [0.25, 0.5, 0.75, 1, 1]);
    assert.equal(scheduler.stateDict().epochs, 4);
    const first = new WarmUp(optimizer, 2);
    new optim.lrScheduler.SequentialLR(optimizer, [first, new StepLR(optimizer, 1)], [2]).step();
    assert.equal(optimizer.paramGroups[0].lr, 1);
  });

  test("gets an error that names what it lacks", () => {
    class Bare extends LRScheduler {}
    class Lazy extends LRScheduler {
      constructor(optimizer) {
        super(optimizer);
        this.start();
      }
    }
    const step = () => new Bare(newOptimizer()).step();
    assertThrows(step, "InvalidArgument", /^\[Bare\.step\] call this\.start\(\)/);
    const make = () => new Lazy(newOptimizer());
    assertThrows(make, "InvalidArgument", /^\[Lazy\].*nextLrs\(\) or step\(\)/);
  });
});

describe("the text of an optimizer", () => {
  test("is what PyTorch prints of its settings", () => {
    const [a, b] = [newParameter(), newParameter()];
    const adam = new optim.Adam([a], { lr: 1e-3, weightDecay: 1e-5, amsgrad: true });
    const text = [
      "Adam (",
      "Parameter Group 0",
      "    amsgrad: True",
      "    betas: (0.9, 0.999)",
      "    eps: 1e-08",
      "    lr: 0.001",
      "    maximize: False",
      "    weight_decay: 1e-05",
      ")",
    ].join("\n");
    assert.equal(String(adam), text);
    assert.equal(inspect(adam), text);
    const groups = String(new Momentum([{ params: [a] }, { params: [b], lr: 3 }]));
    const expected =
      "Momentum (\nParameter Group 0\n    lr: 0.1\n\nParameter Group 1\n    lr: 3\n)";
    assert.equal(groups, expected);
  });

  test("shows settings of any kind", () => {
    const made = () => new (class Odd extends Momentum {})([newParameter()]);
    const optimizer = made();
    Object.assign(optimizer.paramGroups[0], { foreach: null, initialLr: 0.5, rate: eg.ones([1]) });
    assert.match(String(optimizer), /foreach: None\n {4}initial_lr: 0\.5\n/);
    assert.match(String(optimizer), /rate: tensor\(\[1\.\]\)/);
  });
});
