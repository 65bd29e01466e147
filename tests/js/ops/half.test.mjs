// float16 and bfloat16: storing, reading, promotion, arithmetic, gradients.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";

const golden = readJson("tests/golden/half.json");
const kHalves = ["float16", "bfloat16"];
const kEps = { float16: 2 ** -10, bfloat16: 2 ** -7 };

const numbers = (tensor) => [...tensor.dataSync()];
const of = (name, shape, dtype) => eg.tensor(golden.inputs[name], { shape, dtype }).requiresGrad_();

describe("elements", () => {
  test("are stored in two bytes and read as float32", () => {
    const x = eg.tensor([1.1, -70000, 2 ** -24, Number.NaN], { dtype: "float16" });
    assert.equal(x.elementSize(), 2);
    const data = x.dataSync();
    assert.ok(data instanceof Float32Array);
    assert.deepEqual([...data], [1.099609375, -Infinity, 2 ** -24, Number.NaN]);
    assert.deepEqual(x.tolist(), [...data]);
    const y = eg.tensor([1.1, -70000, 2 ** -24, Number.NaN], { dtype: "bfloat16" });
    assert.deepEqual(y.arraySync(), [1.1015625, -70144, 2 ** -24, Number.NaN]);
    assert.equal(y.narrow(0, 0, 1).item(), 1.1015625);
  });

  test("of views are read in the order of the view", () => {
    const x = eg.arange(6, { dtype: "bfloat16" }).reshape(2, 3);
    assert.deepEqual(x.t().tolist(), [
      [0, 3],
      [1, 4],
      [2, 5],
    ]);
    assert.deepEqual([...x.t().dataSync()], [0, 3, 1, 4, 2, 5]);
    assert.deepEqual([...x.t().contiguous().dataSync()], [0, 3, 1, 4, 2, 5]);
    assert.deepEqual(x.select(1, 1).tolist(), [1, 4]);
    assert.deepEqual(x.select(0, 1).expand(2, 3).tolist(), [
      [3, 4, 5],
      [3, 4, 5],
    ]);
  });

  test("print as PyTorch prints them", () => {
    for (const dtype of kHalves) {
      const text = golden.print[dtype].replace("torch.", "");
      assert.equal(String(eg.tensor([1.5, 2.25], { dtype })), text);
    }
  });

  test("come from other dtypes and go there", () => {
    const x = eg.tensor([1, 0, 300], { dtype: "int32" });
    assert.deepEqual(numbers(x.half()), [1, 0, 300]);
    assert.equal(x.half().dtype, "float16");
    assert.equal(x.bfloat16().dtype, "bfloat16");
    assert.equal(x.to("float16").to(eg.zeros([1])).dtype, "float32");
    assert.deepEqual([...x.half().long().dataSync()], [1n, 0n, 300n]);
    assert.deepEqual(x.half().bool().tolist(), [true, false, true]);
    assert.equal(x.bfloat16().to("complex64").dtype, "complex64");
    assert.equal(x.half().isFloatingPoint(), true);
  });

  test("of every dtype are copied, filled, compared and cloned", () => {
    for (const dtype of kHalves) {
      const x = eg.zeros([3], { dtype });
      x.copy_(eg.tensor([1, 2, 3]));
      assert.deepEqual(numbers(x), [1, 2, 3]);
      assert.ok(eg.equal(x, x.clone()));
      assert.deepEqual(numbers(x.fill_(0.5)), [0.5, 0.5, 0.5]);
      assert.deepEqual(numbers(x.zero_()), [0, 0, 0]);
      assert.equal(x.newOnes(2).dtype, dtype);
      assert.ok(eg.allclose(eg.onesLike(x), eg.full([3], 1, { dtype })));
    }
  });

  test("a value that does not fit is refused", () => {
    assertThrows(
      () => eg.full([1], 65520, { dtype: "float16" }),
      "InvalidArgument",
      /65520 does not fit float16/,
    );
  });
});

describe("promotion", () => {
  for (const [a, b, expected] of golden.promotion) {
    test(`${a} and ${b}: ${expected}`, () =>
      eg.scope(() => {
        const ones = (dtype) => eg.ones([2], { dtype });
        assert.equal(eg.mul(ones(a), ones(b)).dtype, expected);
        const isComplex = /complex/.test(a + b);
        if (!isComplex) assert.equal(eg.cat([ones(a), ones(b)]).dtype, expected);
      }));
  }

  test("numbers and tensors without dimensions do not widen", () => {
    for (const [dtype, other, expected] of golden.results) {
      const operand = {
        number: 2.5,
        "zero-dim float32": eg.tensor(2.5),
        "zero-dim float64": eg.tensor(2.5, { dtype: "float64" }),
        "int tensor": eg.ones([2], { dtype: "int64" }),
      }[other];
      assert.equal(eg.ones([2], { dtype }).mul(operand).dtype, expected, `${dtype} ${other}`);
    }
  });

  test("an in-place op keeps the dtype", () => {
    const x = eg.ones([2], { dtype: "float16" });
    assert.equal(x.add_(eg.ones([2])), x);
    assert.equal(x.cumsum_(0), x);
    assert.deepEqual([x.dtype, numbers(x)], ["float16", [2, 4]]);
    assertThrows(() => eg.ones([2], { dtype: "int32" }).add_(x), "DtypeMismatch");
  });
});

describe("arithmetic is PyTorch's", () => {
  const kCases = {
    add: (a, _, c) => a.add(c),
    mul: (a, _, c) => a.mul(c),
    div: (a, _, c) => a.div(c),
    matmul: (a, b) => a.matmul(b),
    tanh: (a) => a.tanh(),
    exp: (a) => a.exp(),
    mulNumber: (a) => a.mul(0.1),
    sum: (a) => a.sum(),
    mean: (a) => a.mean(),
    softmax: (a) => a.softmax(-1),
    sumDim: (a) => a.sum(0),
    sigmoid: (a) => a.sigmoid(),
  };
  for (const dtype of kHalves) {
    for (const [name, expected] of Object.entries(golden[dtype])) {
      test(`${name} of ${dtype}`, () =>
        eg.scope(() => {
          const a = of("a", [4, 5], dtype);
          const b = of("b", [5, 3], dtype);
          const c = of("c", [4, 5], dtype);
          const result = kCases[name](a, b, c);
          assert.equal(result.dtype, dtype);
          const tolerance = { rtol: 2 * kEps[dtype], atol: kEps[dtype] / 8 };
          assertClose(numbers(result), expected.value, tolerance);
          result.sum().backward();
          const leaves = [a, b, c].filter((leaf) => leaf.grad !== null);
          assert.deepEqual(
            leaves.map((leaf) => leaf.grad.dtype),
            expected.gradDtypes,
          );
          // The gradient of a composition is rounded between the ops, at different points here and in the reference.
          const coarse = { rtol: 4 * kEps[dtype], atol: kEps[dtype] / 2 };
          leaves.forEach((leaf, i) => {
            assertClose(numbers(leaf.grad), expected.grads[i], coarse);
          });
        }));
    }
  }

  test("integers and truth values stay what they are", () => {
    const x = eg.tensor([1, 3, 2], { dtype: "bfloat16" });
    assert.equal(x.argmax().dtype, "int64");
    assert.equal(x.gt(1).dtype, "bool");
    const [values, indices] = x.sort();
    assert.deepEqual([values.dtype, indices.dtype], ["bfloat16", "int64"]);
    assert.equal(x.sum({ dtype: "float32" }).dtype, "float32");
    assert.equal(eg.ones([2]).sum({ dtype: "float16" }).dtype, "float16");
  });
});

describe("new tensors", () => {
  test("take both dtypes", () => {
    for (const dtype of kHalves) {
      for (const x of [
        eg.ones([2], { dtype }),
        eg.full([2], 3, { dtype }),
        eg.empty([2], { dtype }),
        eg.eye(2, { dtype }),
        eg.arange(0, 1, 0.25, { dtype }),
        eg.linspace(0, 1, 5, { dtype }),
        eg.randn([2], { dtype }),
        eg.randint(0, 5, [2], { dtype }),
        eg.randnLike(eg.ones([2]), { dtype }),
      ])
        assert.equal(x.dtype, dtype);
    }
    assert.deepEqual(numbers(eg.linspace(0, 1, 3, { dtype: "float16" })), [0, 0.5, 1]);
  });

  test("rand() gives PyTorch's numbers, all below 1", () => {
    for (const dtype of kHalves) {
      eg.manualSeed(3);
      assert.deepEqual(numbers(eg.rand([40], { dtype })), golden.rand[dtype]);
      eg.manualSeed(3);
      assert.deepEqual(numbers(eg.randLike(eg.zeros([40], { dtype }))), golden.rand[dtype]);
      assert.ok(numbers(eg.rand([5000], { dtype })).every((value) => value < 1));
    }
  });

  test("less than 16 normal numbers are drawn in float32 and rounded", () => {
    eg.manualSeed(3);
    const single = eg.randn([15]).bfloat16();
    eg.manualSeed(3);
    assert.ok(eg.equal(eg.randn([15], { dtype: "bfloat16" }), single));
  });

  test("what is drawn in place is as well", () => {
    for (const dtype of kHalves) {
      const x = eg.zeros([100], { dtype });
      x.uniform_(2, 3);
      assert.ok(numbers(x).every((value) => value >= 2 && value <= 3));
      x.random_();
      assert.ok(numbers(x).every((value) => value <= (dtype === "float16" ? 2048 : 256)));
      x.normal_();
      assert.ok(x.version > 1 && x.dtype === dtype && x.float().std().item() > 0.5);
    }
  });
});

describe("training", () => {
  test("steps of all optimizers keep the dtype of parameters and state", () => {
    for (const Kind of [
      eg.optim.SGD,
      eg.optim.Adam,
      eg.optim.AdamW,
      eg.optim.RMSprop,
      eg.optim.Adagrad,
      eg.optim.Adadelta,
    ])
      for (const dtype of kHalves) {
        const p = eg.tensor([1, -2], { dtype, requiresGrad: true });
        const optimizer = new Kind([p], { lr: Kind === eg.optim.Adadelta ? 50 : 0.125 });
        p.pow(2).sum().backward();
        assert.equal(p.grad.dtype, dtype);
        optimizer.step();
        assert.equal(p.dtype, dtype, Kind.name);
        assert.notDeepEqual(numbers(p), [1, -2], Kind.name);
        for (const state of Object.values(optimizer.stateDict().state[0] ?? {}))
          if (state instanceof eg.Tensor && state.ndim > 0) assert.equal(state.dtype, dtype);
      }
  });

  test("a module is converted, and computes in its dtype", () => {
    const model = new eg.nn.Sequential(
      new eg.nn.Linear(4, 8),
      new eg.nn.LayerNorm(8),
      new eg.nn.GELU(),
      new eg.nn.Linear(8, 2),
    );
    assert.equal(model.half(), model);
    for (const parameter of model.parameters()) assert.equal(parameter.dtype, "float16");
    const result = model.forward(eg.randn([3, 4], { dtype: "float16" }));
    assert.equal(result.dtype, "float16");
    result.sum().backward();
    for (const parameter of model.parameters()) assert.equal(parameter.grad.dtype, "float16");
    assert.equal([...model.bfloat16().parameters()][0].dtype, "bfloat16");
    assert.equal([...model.double().parameters()][0].dtype, "float64");
    assert.equal([...model.float().parameters()][0].dtype, "float32");
  });

  test("running statistics of half precision are updated", () => {
    const norm = new eg.nn.BatchNorm1d(3).bfloat16();
    norm.forward(eg.randn([8, 3], { dtype: "bfloat16" }).add(4));
    assert.ok(norm.running_mean.float().min().item() > 0.2);
    assert.equal(norm.running_mean.dtype, "bfloat16");
  });

  test("inference mode, vmap, forward mode and second derivatives take them", () => {
    const x = eg.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { dtype: "float16" },
    );
    const product = eg.inferenceMode(() => x.clone().cumsum_(0));
    assert.deepEqual(product.tolist(), [
      [1, 2],
      [4, 6],
    ]);
    const rows = eg.func.vmap((row) => row.softmax(0).sum())(x);
    assert.equal(rows.dtype, "float16");
    const [, tangent] = eg.func.jvp((t) => t.matmul(t).sum(), [x], [eg.onesLike(x)]);
    assert.equal(tangent.dtype, "float16");
    assert.equal(tangent.item(), 40);
    const y = eg.tensor([0.5, 2], { dtype: "bfloat16", requiresGrad: true });
    const [first] = eg.autograd.grad(y.pow(3).sum(), [y], { createGraph: true });
    const [second] = eg.autograd.grad(first.sum(), [y]);
    assert.deepEqual([second.dtype, numbers(second)], ["bfloat16", [3, 12]]);
  });

  test("batches of gradients and captured functions take them", () => {
    const x = eg.tensor([1, 2], { dtype: "float16", requiresGrad: true });
    const y = x.mul(x);
    const [rows] = eg.autograd.grad(y, [x], {
      gradOutputs: [eg.eye(2, { dtype: "float16" })],
      isGradsBatched: true,
    });
    assert.equal(rows.dtype, "float16");
    assert.deepEqual(rows.tolist(), [
      [2, 0],
      [0, 4],
    ]);
    const step = eg.capture((t) => t.cumsum(0).mul(2), eg.ones([2], { dtype: "bfloat16" }));
    for (const value of [1, 3]) {
      const result = step(eg.full([2], value, { dtype: "bfloat16" }));
      assert.deepEqual([result.dtype, numbers(result)], ["bfloat16", [2 * value, 4 * value]]);
    }
  });

  test("nothing is left behind", () => {
    const live = () => eg.memory().jsHandles;
    const run = () =>
      eg.scope(() => {
        const x = eg.randn([3, 3], { dtype: "float16", requiresGrad: true });
        x.matmul(x).cumsum(0).sum().backward();
        x.detach().cumsum_(0);
        x.dataSync();
        x.tolist();
        x.grad = null;
      });
    run();
    const before = live();
    const tensors = eg.memory().tensors;
    for (let i = 0; i < 5; i++) run();
    assert.equal(live(), before);
    assert.equal(eg.memory().tensors, tensors);
  });
});

describe("files", () => {
  test("keep half precision", () => {
    for (const dtype of kHalves) {
      const x = eg.tensor([[1.1, -2, 2 ** -24]], { dtype });
      const bytes = eg.io.saveSafetensors({ x, y: x.t() });
      const { x: again, y } = eg.io.loadSafetensors(bytes);
      assert.equal(again.dtype, dtype);
      assert.ok(eg.equal(again, x));
      assert.ok(eg.equal(y, x.t()));
      assert.ok(eg.equal(eg.io.load(eg.io.save({ x })).x, x));
    }
  });
});

describe("limits", () => {
  for (const dtype of kHalves)
    test(`finfo("${dtype}")`, () => {
      const { bits, eps, max, min, tiny, resolution } = eg.finfo(dtype);
      assert.deepEqual({ bits, eps, max, min, tiny, resolution }, golden.finfo[dtype]);
    });
});
