// Tensors in JavaScript's operators, loops, JSON, template literals and structured cloning.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { format, inspect } from "node:util";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kOperations = {
  "a > b": (a, b) => a > b,
  "a <= 1": (a) => a <= 1,
  "a + b": (a, b) => a + b,
  "0 + a": (a) => 0 + a,
  "text + a": (a, _, text = "loss ") => text + a,
  "a - b": (a, b) => a - b,
  "a * 2": (a) => a * 2,
  "2 ** a": (a) => 2 ** a,
  "a % 2": (a) => a % 2,
  "a | 0": (a) => a | 0,
  "+a": (a) => +a,
  "-a": (a) => -a,
  "a++": (a) => {
    let value = a;
    value++;
    return value;
  },
  // biome-ignore lint/suspicious/noDoubleEquals: the conversion is what is tested.
  "a == 3": (a) => a == 3,
  // biome-ignore lint/suspicious/noDoubleEquals: the conversion is what is tested.
  'a != "3"': (a) => a != "3",
  "Number(a)": (a) => Number(a),
  "BigInt(a)": (a) => BigInt(a),
  "Math.max(a, 0)": (a) => Math.max(a, 0),
  "Math.hypot(a)": (a) => Math.hypot(a),
  "new Date(a)": (a) => new Date(a),
  "a typed array of it": (a) => new Float32Array([a]),
};

describe("operators", () => {
  for (const [name, compute] of Object.entries(kOperations)) {
    test(`refuse ${name} and name the method`, () => {
      for (const a of [eg.tensor(3), eg.tensor([1, 2]), new eg.nn.Parameter(eg.ones([]))]) {
        assertThrows(
          () => compute(a, eg.tensor(2)),
          "InvalidArgument",
          /\.add\(.*\.mul\(.*\.gt\(.*\.item\(\)/,
        );
      }
    });
  }

  test("leave texts, identity and logic alone", () => {
    const a = eg.tensor([1, 2]);
    assert.equal(`${a}`, "tensor([1., 2.])");
    assert.equal(String(a), "tensor([1., 2.])");
    assert.equal(["a", a].join(" "), "a tensor([1., 2.])");
    const same = [a][0];
    // biome-ignore lint/suspicious/noDoubleEquals: the conversion is what is tested.
    assert.ok(a == same && a !== eg.tensor([1, 2]) && a != null && a);
    assert.equal(inspect({ a }), "{ a: tensor([1., 2.]) }");
    assert.equal(format("%s %o", a, a), "tensor([1., 2.]) tensor([1., 2.])");
  });
});

describe("iteration", () => {
  test("gives the rows", () => {
    const x = eg.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { requiresGrad: true },
    );
    const rows = [];
    for (const row of x) rows.push(row);
    assertTensor(rows[1], [3, 4], { shape: [2] });
    const [first, second] = x;
    first.mul(second).sum().backward();
    assertTensor(x.grad, [3, 4, 1, 2]);
    assert.equal(rows[0].gradFn.name, "UnbindBackward0");
    assert.deepEqual([...eg.zeros([0, 2])], []);
    assert.equal(Math.max(...Array.from(eg.tensor([1, 5]), (one) => one.item())), 5);
  });

  test("of a scalar is refused", () => {
    assertThrows(() => [...eg.tensor(1)], "InvalidArgument", /cannot iterate over a 0-d tensor/);
  });
});

describe("JSON", () => {
  const parsed = (tensor) => JSON.parse(JSON.stringify(tensor));

  test("has the elements as nested arrays", () => {
    assert.equal(JSON.stringify({ loss: eg.tensor(1.5) }), '{"loss":1.5}');
    assert.deepEqual(parsed(eg.tensor([[1], [2]])), [[1], [2]]);
    assert.deepEqual(parsed(eg.tensor([[1, 2]]).t()), [[1], [2]]);
    assert.deepEqual(parsed(eg.tensor([true, false])), [true, false]);
    assert.deepEqual(parsed(eg.zeros([2, 0])), [[], []]);
    assert.deepEqual(parsed(new eg.nn.Parameter(eg.ones([1]))), [1]);
  });

  test("has as text what it has no numbers for", () => {
    const odd = eg.tensor([Number.NaN, Infinity, -Infinity]);
    assert.deepEqual(parsed(odd), ["NaN", "Infinity", "-Infinity"]);
    assert.deepEqual(parsed(odd).map(Number), [Number.NaN, Infinity, -Infinity]);
    assert.deepEqual(parsed(eg.tensor([2n ** 60n, 3n])), [String(2n ** 60n), 3]);
    const complex = eg.complex(eg.tensor([1]), eg.tensor([Number.NaN]));
    assert.deepEqual(parsed(complex), [{ re: 1, im: "NaN" }]);
  });

  test("has the name of a node", () => {
    const { gradFn } = eg.ones([1], { requiresGrad: true }).exp();
    assert.equal(JSON.stringify({ gradFn }), '{"gradFn":{"name":"ExpBackward0"}}');
  });

  test("has nothing of a tensor that is disposed", () => {
    const x = eg.ones([1]);
    x.dispose();
    assertThrows(() => JSON.stringify(x), "Disposed");
  });
});

test("structured cloning refuses tensors, nodes and models", () => {
  const x = eg.ones([1], { requiresGrad: true });
  for (const value of [
    x,
    [x],
    { x },
    new Map([["x", x]]),
    x.mul(2).gradFn,
    new eg.nn.Linear(1, 1),
  ]) {
    assert.throws(() => structuredClone(value), { name: "DataCloneError", message: /eg\.spawn/ });
  }
});
