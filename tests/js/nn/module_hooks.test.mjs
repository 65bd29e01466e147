// Hooks of modules: before and after forward, and in backward.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, values } from "../support/graphs.mjs";

class Scale extends eg.nn.Module {
  factor = new eg.nn.Parameter(eg.tensor([2]));

  forward(x) {
    return x.mul(this.factor);
  }
}

describe("forward hooks", () => {
  test("see and replace inputs and outputs, in order, until they are removed", () => {
    const module = new Scale();
    const x = eg.tensor([3]);
    const log = [];
    const handles = [
      module.registerForwardPreHook((self, inputs) => {
        log.push([self === module, inputs.length]);
      }),
      module.registerForwardPreHook((_, [input]) => input.add(1)),
      module.registerForwardHook((_, [input], output) => {
        log.push([values(input), values(output)]);
        return output.add(10);
      }),
      module.registerForwardHook((_, __, output) => output.mul(10)),
    ];
    assertTensor(module.call(x), [180]);
    assert.deepEqual(log, [
      [true, 1],
      [[4], [8]],
    ]);
    for (const handle of handles) handle.remove();
    assertTensor(module.call(x), [6]);
    module.registerForwardHook((_, __, output) => output.mul(7));
    assertTensor(new eg.nn.Sequential(module).call(x), [42]);
    assertTensor(module.forward(x), [6]);
  });
});

describe("forward hooks with options", () => {
  class Add extends eg.nn.Module {
    forward(x, { by = 0 } = {}) {
      return x.add(by);
    }
  }

  test("see the options apart from the inputs, and may replace them", () => {
    const module = new Add();
    const log = [];
    module.registerForwardPreHook(
      (_, [x], options) => {
        log.push(options);
        return [[x], { by: (options.by ?? 0) + 1 }];
      },
      { withKwargs: true },
    );
    module.registerForwardHook(
      (_, inputs, options, output) => {
        log.push([inputs.length, options]);
        return output.mul(10);
      },
      { withKwargs: true },
    );
    assertTensor(module.call(eg.tensor([1]), { by: 2 }), [40]);
    assertTensor(module.call(eg.tensor([1])), [20]);
    assert.deepEqual(log, [{ by: 2 }, [1, { by: 3 }], {}, [1, { by: 1 }]]);
  });

  test("must return a pair, or nothing", () => {
    const module = new Add();
    const hook = module.registerForwardPreHook(() => [1], { withKwargs: true });
    assertThrows(
      () => module.call(eg.ones([1])),
      "InvalidArgument",
      /withKwargs.*return nothing or a pair/,
    );
    hook.remove();
    assertThrows(() => module.registerForwardHook(() => 1, { always: 1 }), "InvalidArgument");
  });

  test("run first with prepend", () => {
    const module = new Add();
    const order = [];
    module.registerForwardHook(() => void order.push("second"));
    module.registerForwardHook(() => void order.push("first"), { prepend: true });
    module.call(eg.ones([1]));
    assert.deepEqual(order, ["first", "second"]);
  });
});

describe("full backward hooks", () => {
  test("see the gradients of inputs and outputs and may replace those of the inputs", () => {
    // rule: full-backward-hook
    const module = new Scale();
    const x = leaf([3, 4]);
    const seen = [];
    const handle = module.registerFullBackwardHook((self, gradInputs, gradOutputs) => {
      seen.push([self === module, gradInputs.map(values), gradOutputs.map(values)]);
      return [gradInputs[0].mul(100)];
    });
    module.call(x).sum().backward();
    assert.deepEqual(seen, [[true, [[2, 2]], [[1, 1]]]]);
    assertTensor(x.grad, [200, 200]);
    assertTensor(module.factor.grad, [7]);
    handle.remove();
    x.grad = null;
    module.call(x).sum().backward();
    assertTensor(x.grad, [2, 2]);
  });

  test("run between the hooks of the nodes, in PyTorch's order", () => {
    // rule: full-backward-hook-order, hook-order
    const linear = new eg.nn.Linear(2, 3);
    const x = leaf([[1, 2]]);
    const log = [];
    linear.registerFullBackwardHook(() => void log.push("module"));
    const out = linear.call(x);
    const output = out.gradFn;
    assert.equal(output.name, "BackwardHookFunctionBackward");
    const loss = out.sum();
    const [[addmm]] = output.nextFunctions;
    loss.gradFn.registerPrehook(() => void log.push(loss.gradFn.name));
    output.registerPrehook(() => void log.push("output"));
    addmm.registerPrehook(() => void log.push(addmm.name));
    linear.bias.registerHook(() => void log.push("bias"));
    linear.bias.registerPostAccumulateGradHook(() => void log.push("bias accumulated"));
    x.registerHook(() => void log.push("x"));
    loss.backward();
    const order = ["SumBackward0", "output", addmm.name, "bias", "bias accumulated", "module", "x"];
    assert.deepEqual(
      log.filter((entry) => order.includes(entry)),
      order,
    );
  });

  test("run with null inputs as soon as the outputs' gradients are there when no input needs one", () => {
    // rule: full-backward-hook-no-input
    const module = new Scale();
    const seen = [];
    module.registerFullBackwardHook((_, gradInputs, gradOutputs) => {
      seen.push([gradInputs, gradOutputs.map(values)]);
    });
    module.call(eg.tensor([5])).backward();
    assert.deepEqual(seen, [[[null], [[1]]]]);
    assertTensor(module.factor.grad, [5]);
    module.registerFullBackwardHook(() => [eg.ones([1])]);
    assertThrows(
      () => module.call(eg.tensor([5])).backward(),
      "InvalidGradient",
      /no input .* requires a gradient.*return nothing or null/,
    );
  });

  test("take several inputs, some of which are no tensors or need no gradient", () => {
    const module = new (class extends eg.nn.Module {
      forward(a, text, b) {
        return [a.mul(b), text];
      }
    })();
    const seen = [];
    module.registerFullBackwardHook((_, gradInputs, gradOutputs) => {
      seen.push(gradInputs.map((one) => one && values(one)));
      seen.push(gradOutputs.map((one) => one && values(one)));
    });
    const [a, b] = [leaf([2]), eg.tensor([3])];
    const [out, text] = module.call(a, "text", b);
    assert.equal(text, "text");
    out.backward();
    assert.deepEqual(seen, [
      [[3], null, [0]],
      [[1], null],
    ]);
  });

  test("must return as many gradients as there are inputs", () => {
    // rule: full-backward-hook
    const module = new Scale();
    module.registerFullBackwardHook(() => [null, null]);
    assertThrows(
      () => module.call(leaf([1])).backward(),
      "InvalidGradient",
      /must return 1 gradients.*got 2/,
    );
  });

  test("do nothing without recording, and leak nothing", () => {
    // rule: full-backward-hook-memory
    const module = new Scale();
    let calls = 0;
    module.registerFullBackwardHook((_, __, gradOutputs) => {
      calls += gradOutputs.length;
    });
    const x = leaf([1]);
    assert.equal(eg.noGrad(() => module.call(x)).gradFn, null);
    assertFlat(() => {
      const y = module.call(x);
      const [g] = eg.autograd.grad(y.mul(y), x, { createGraph: true });
      g.backward();
      x.grad = null;
    });
    assert.ok(calls > 0);
  });
});
