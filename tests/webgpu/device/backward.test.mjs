// Backward on the device, with everything that observes or changes it: hooks, Functions, saved tensors, modes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { runProgram } from "../../js/support/child.mjs";
import { eg, leaf, onGpu, options } from "../support/engine.mjs";

const { autograd } = eg;

describe("a hook of a tensor on the device", options, () => {
  test("may read its gradient, with backward waiting", () => {
    const x = leaf([1, 2]);
    const y = x.mul(3);
    const seen = [];
    y.registerHook((grad) => {
      seen.push(grad.device, grad.sum().item());
      return grad.mul(grad.sum().item());
    });
    y.sum().backward();
    assert.deepEqual(seen, ["webgpu", 2]);
    assertTensor(x.grad, [6, 6]);
  });

  test("may read its gradient, with backwardAsync pending", async () => {
    const x = leaf([1, 2]);
    x.registerHook((grad) => grad.div(grad.max().item()));
    await x
      .mul(onGpu([2, 4]))
      .sum()
      .backwardAsync();
    assertTensor(x.grad, [0.5, 1]);
  });

  test("may be of a leaf, after it accumulated, and of a node", () => {
    const x = leaf([1, 2]);
    const order = [];
    x.registerPostAccumulateGradHook((param) => {
      order.push(`accumulated ${param.grad.arraySync()}`);
    });
    const y = x.square();
    y.gradFn.registerPrehook(() => {
      order.push("prehook");
    });
    y.gradFn.registerHook(([grad]) => {
      order.push(`hook ${grad.device}`);
    });
    y.sum().backward();
    assert.deepEqual(order, ["prehook", "hook webgpu", "accumulated 2,4"]);
  });

  test("may not change the gradient's device", () => {
    const y = leaf([1]).mul(2);
    y.registerHook((grad) => grad.to("cpu"));
    assert.throws(() => y.sum().backward(), { code: "InvalidGradient" });
  });

  for (const inner of ["cpu", "webgpu"]) {
    for (const way of ["x.mul(3).sum().backward()", "await x.mul(3).sum().backwardAsync()"]) {
      test(`may call backward on ${inner} within ${way}`, async () => {
        // rule: device-hook-may-nest, hooks-on-their-thread
        // In a separate process, because only that can be ended in a deadlock.
        const { status, stdout, stderr } = await runProgram(
          `import * as eg from "edgegrad";
          await eg.init({ webgpu: "required" });
          const x = eg.tensor([1, 2], { device: "webgpu", requiresGrad: true });
          x.registerHook((grad) => {
            const z = eg.tensor(5, { device: ${JSON.stringify(inner)}, requiresGrad: true });
            eg.enableGrad(() => z.square().backward());
            return grad.mul(z.grad.item());
          });
          ${way};
          console.log(x.grad.arraySync().join());`,
        );
        assert.equal(status, 0, `${stdout}${stderr}`);
        assert.equal(stdout.trim(), "30,30");
      });
    }
  }
});

describe("a Function on the device", options, () => {
  class Cube extends autograd.Function {
    static forward(ctx, x) {
      ctx.saveForBackward(x);
      return x.pow(3);
    }
    static backward(ctx, grad) {
      const [x] = ctx.savedTensors;
      return grad.mul(x.square()).mul(3);
    }
  }

  test("computes and differentiates, twice", () => {
    const x = leaf([1, 2]);
    const [grad] = autograd.grad(Cube.apply(x).sum(), [x], { createGraph: true });
    assertTensor(grad.detach(), [3, 12]);
    grad.sum().backward();
    assertTensor(x.grad, [6, 12]);
    assert.equal(x.grad.device, "webgpu");
  });

  test("that gives a gradient of another device is refused", () => {
    class Wrong extends Cube {
      static backward(_ctx, grad) {
        return grad.to("cpu");
      }
    }
    assertThrows(
      () =>
        Wrong.apply(leaf([1, 2]))
          .sum()
          .backward(),
      "InvalidGradient",
      /webgpu.*cpu|cpu.*webgpu/,
    );
  });
});

describe("gradients of gradients on the device", options, () => {
  test("are those of the CPU", () => {
    const of = (device) => {
      const x = eg.tensor([0.5, -1.5], { device, requiresGrad: true });
      const w = eg.tensor([[1, 2], [3, 4]], { device, requiresGrad: true }); // biome-ignore format: a matrix
      const loss = eg.tanh(w.matmul(x)).square().sum();
      const grads = autograd.grad(loss, [x, w], { createGraph: true });
      const norm = grads[0].square().sum().add(grads[1].square().sum());
      return autograd.grad(norm, [x, w]).map((grad) => [...grad.dataSync()]);
    };
    const [onCpu, found] = [of("cpu"), of("webgpu")];
    // tanh and its first two derivatives may each differ by a few units in the last place.
    for (const i of [0, 1]) assertTensor(eg.tensor(found[i]), onCpu[i], { rtol: 2e-5, atol: 1e-6 });
  });

  test("need the graph, which retainGraph keeps", () => {
    const x = leaf([1, 2]);
    const y = x.square().sum();
    y.backward(null, { retainGraph: true });
    y.backward();
    assertTensor(x.grad, [4, 8]);
    assertThrows(() => y.backward(), "GraphFreed");
  });

  test("pass gradcheck's formula in functional.hessian", () => {
    const h = autograd.functional.hessian((x) => x.pow(3).sum(), onGpu([1, 2]));
    assert.equal(h.device, "webgpu");
    assertTensor(h, [6, 0, 0, 12]);
  });

  test("agree with those of forward mode", () => {
    const tangent = autograd.forwardAd.dualLevel(() => {
      const dual = autograd.forwardAd.makeDual(onGpu([1, 2]), onGpu([1, 10]));
      return autograd.forwardAd.unpackDual(dual.square().mul(dual)).tangent;
    });
    assertTensor(tangent, [3, 120], { rtol: 1e-6 });
  });
});

describe("anomaly mode on the device", options, () => {
  test("finds NaN and names the node", () => {
    // rule: anomaly-reads-device
    assertThrows(
      () => autograd.detectAnomaly(() => leaf([-1, 2]).sqrt().sum().backward()),
      "AnomalyNan",
      /SqrtBackward0 returned NaN in gradient 0/,
    );
  });

  test("lets what is right pass", async () => {
    const x = leaf([1, 4]);
    autograd.detectAnomaly(() => x.sqrt().sum().backward());
    assertTensor(x.grad, [0.5, 0.25]);
  });
});

describe("saved tensors of the device", options, () => {
  const { graph } = autograd;

  test("go through hooks, which may read them", () => {
    const x = leaf([1, 2]);
    const packed = [];
    const y = graph.savedTensorsHooks(
      (saved) => {
        packed.push(saved.device);
        return saved.arraySync();
      },
      (numbers) => onGpu(numbers),
      () => x.exp(),
    );
    y.sum().backward();
    assert.deepEqual(packed, ["webgpu"]);
    assertTensor(x.grad, [Math.E, Math.E ** 2], { rtol: 1e-6 });
  });

  test("wait on the CPU with saveOnCpu", () => {
    const x = leaf(Array.from({ length: 1000 }, (_, i) => i / 1000));
    const bytes = () => eg.memory().gpuBytes;
    const makeSquare = () => {
      const hidden = x.mul(2);
      const square = hidden.square();
      const sum = square.sum();
      hidden.dispose();
      square.dispose();
      return sum;
    };
    const start = bytes();
    const kept = makeSquare();
    const withSaved = bytes() - start;
    const moved = graph.saveOnCpu(makeSquare);
    // Only the sum itself is on the device, not the 1000 numbers that square() saved.
    assert.ok(withSaved >= 4000, `${withSaved}`);
    assert.ok(bytes() - start - withSaved < 4000, `${bytes() - start - withSaved}`);
    kept.backward();
    const expected = [...x.grad.dataSync()];
    x.grad = null;
    moved.backward();
    assertTensor(x.grad, expected);
    assert.equal(x.grad.device, "webgpu");
  });

  test("are looked at as on the CPU", () => {
    const x = leaf([1, 2]);
    const { saved } = x.square().gradFn;
    assert.equal(saved.self.device, "webgpu");
    assertTensor(saved.self.detach(), [1, 2]);
  });

  test("are computed again by checkpoint, with the same dropout", () => {
    const model = new eg.nn.Sequential(
      new eg.nn.Linear(4, 8),
      new eg.nn.Dropout(0.5),
      new eg.nn.Linear(8, 1),
    ).to("webgpu");
    const x = eg.ones([16, 4], { device: "webgpu", requiresGrad: true });
    const gradOf = (run) => {
      eg.manualSeed(3);
      const [grad] = autograd.grad(run().sum(), [x]);
      return [...grad.dataSync()];
    };
    const plain = gradOf(() => model.call(x));
    const again = gradOf(() => autograd.checkpoint((input) => model.call(input), x));
    assert.deepEqual(again, plain);
    assert.ok(new Set(plain).size > 1, "dropout differs from row to row");
  });
});

describe("derivatives of a product on the device", options, () => {
  for (const [title, values] of [
    [
      "without zeros",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      "with a zero",
      [
        [0, 2],
        [3, 4],
      ],
    ],
    [
      "with two zeros",
      [
        [0, 0],
        [3, 4],
      ],
    ],
  ]) {
    test(`are those of the CPU up to the third order: ${title}`, async () => {
      for (const dim of [undefined, 0, 1]) {
        const of = async (device) => {
          const x = eg.tensor(values, { device, requiresGrad: true });
          const y = dim === undefined ? x.prod() : x.prod(dim);
          const [first] = autograd.grad([y.sum()], [x], { createGraph: true });
          const [second] = autograd.grad([first.square().sum()], [x], { createGraph: true });
          const [third] = autograd.grad([second.square().sum()], [x]);
          return Promise.all([first, second, third].map((grad) => grad.data()));
        };
        const [found, onCpu] = [await of("webgpu"), await of("cpu")];
        for (const i of [0, 1, 2]) assertClose(found[i], onCpu[i], { rtol: 1e-5 });
      }
    });
  }
});
