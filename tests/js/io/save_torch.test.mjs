// Values that saveTorch writes are read as they were, and those that Python cannot have are refused. tests/python reads its files
// with PyTorch.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const { loadTorch, saveTorch } = eg.io;
const again = async (value) => loadTorch(await saveTorch(value));

describe("saveTorch keeps", () => {
  test("numbers, strings, bytes and containers", async () => {
    const value = {
      numbers: [0, 1, -1, 255, 256, -129, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, 0.5, -0, Infinity],
      large: [2n ** 53n, 2n ** 63n, -(2n ** 63n), -(2n ** 64n), 10n ** 400n, -(2n ** 2100n)],
      text: "naïve 😀\uFEFF",
      bytes: new Uint8Array([0, 127, 128, 255]),
      map: new Map([
        [null, 1],
        [[1, "a"], 2],
        ["b", 3],
      ]),
      set: new Set([1, "x"]),
      complex: { re: 1, im: -2 },
      nested: [[{ a: [] }], {}],
      none: null,
    };
    assert.deepEqual(await again(value), value);
    assert.ok(Number.isNaN((await again([Number.NaN]))[0]));
  });

  test("every dtype, scalars and empty tensors", async () => {
    const dtypes = ["float32", "float64", "int32", "int64", "uint8", "bool"];
    dtypes.push("complex64", "complex128", "float16", "bfloat16", "int8", "int16");
    for (const dtype of dtypes) {
      const x = eg.tensor([1, 0, 3]).to(dtype);
      const y = await again(x);
      assert.equal(y.dtype, dtype);
      assert.deepEqual(y.tolist(), x.tolist());
    }
    assert.deepEqual((await again(eg.zeros([0, 3]))).shape, [0, 3]);
    assert.equal((await again(eg.tensor(5))).item(), 5);
  });

  test("what shares memory, and no more of it than is used", async () => {
    const all = eg.arange(1e5);
    const part = all.narrow(0, 10, 4);
    const file = await saveTorch({ part, rest: all.narrow(0, 12, 2) });
    assert.ok(file.length < 2000);
    const loaded = await loadTorch(file);
    loaded.part.fill_(1);
    assert.deepEqual(loaded.rest.tolist(), [1, 1]);
    const column = await again(all.reshape([1000, 100]).select(1, 7));
    assert.ok(column.isContiguous);
    assert.deepEqual((await again(eg.ones([1]).expand([3]))).strides, [0]);
  });

  test("more tensors than an archive without zip64 has files", async () => {
    await eg.scope(async () => {
      const list = eg.unbind(eg.arange(66_000)).map((one) => one.clone());
      const loaded = await again(list);
      assert.deepEqual([loaded.length, loaded[65_999].item()], [66_000, 65_999]);
    });
  });

  test("objects that occur twice", async () => {
    const list = [1];
    const x = eg.ones([2]);
    const loaded = await again({ a: list, b: list, x, y: x });
    assert.equal(loaded.a, loaded.b);
    assert.equal(loaded.x, loaded.y);
  });

  test("requiresGrad, also of results", async () => {
    const x = eg.tensor([1], { requiresGrad: true });
    const [leaf, result, plain] = await again([x, x.mul(2), eg.ones([1])]);
    assert.ok(leaf.requiresGrad && result.requiresGrad && result.isLeaf && !plain.requiresGrad);
  });

  test("the values at the time of the call", async () => {
    const x = eg.zeros([2]);
    const saving = saveTorch(x);
    x.fill_(5);
    assert.deepEqual((await loadTorch(await saving)).tolist(), [0, 0]);
  });

  test("nothing: equal values give equal files, and no tensors stay", async () => {
    const value = { a: eg.arange(3), b: [1, "x"] };
    await collectGarbage();
    const handles = eg.memory().jsHandles;
    assert.deepEqual(await saveTorch(value), await saveTorch(value));
    assert.equal(eg.memory().jsHandles, handles);
  });
});

describe("saveTorch refuses", () => {
  const inItself = [];
  inItself.push(inItself);
  let deep = [];
  for (let i = 0; i < 600; i++) deep = [deep];
  const floats = eg.ones([2]);
  const kRefused = {
    undefined: [{ a: undefined }, /"a" cannot be stored: it is undefined/],
    "a hole of an array": [new Array(1), /"0"/],
    "a function": [{ a: { b: () => {} } }, /"a\.b"/],
    "a symbol": [[Symbol("a")], /"0"/],
    "a module": [new eg.nn.Linear(1, 1), /stateDict\(\)/],
    "another typed array": [new Float32Array(2), /Uint8Array/],
    "a date": [new Date(), /Date/],
    "what contains itself": [inItself, /contains itself/],
    "deep nesting": [deep, /nested deeper/],
    "half a surrogate pair": [{ a: "\ud800" }, /Unicode/],
    "a key that contains itself": [new Map([[inItself, 1]]), /contains itself/],
    "keys that are equal in Python": [
      new Map([
        [1, "a"],
        [true, "b"],
      ]),
      /equal in Python/,
    ],
    "an object as a key": [new Map([[{}, 1]]), /key of a dict/],
    "a tensor in a set": [new Set([floats]), /element of a set/],
    "memory of two dtypes": [[floats, eg.viewAsComplex(floats)], /complex64|float32/],
    "a getter that returns another tensor each time": [
      Object.defineProperty({}, "a", { enumerable: true, get: () => eg.ones([1]) }),
      /getter/,
    ],
  };
  for (const [name, [value, message]] of Object.entries(kRefused)) {
    test(name, () => assertRejects(saveTorch(value), "InvalidArgument", message));
  }

  test("a disposed tensor", async () => {
    const x = eg.ones([1]);
    x.dispose();
    await assertRejects(saveTorch([x]), "Disposed");
  });

  test("options", () =>
    assertRejects(saveTorch(1, { protocol: 2 }), "InvalidArgument", /saveTorch/));
});
