// What test runners do with tensors: they compare them by tensorsAreEqual(), and look at their properties to print them. vitest and
// Jest themselves run in the rows of tests/package.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { runNode } from "../support/child.mjs";
import { eg } from "../support/engine.mjs";

const { tensorsAreEqual } = eg.testing;

describe("tensorsAreEqual", () => {
  const kEqual = {
    "a number": () => eg.tensor(1.5),
    rows: () =>
      eg.tensor([
        [1, 2],
        [3, 4],
      ]),
    NaN: () => eg.tensor([Number.NaN, 1]),
    "complex numbers": () => eg.complex(eg.tensor([1, Number.NaN]), eg.ones([2])),
    "large integers": () => eg.tensor([2n ** 62n]),
    booleans: () => eg.tensor([true, false]),
    halves: () => eg.tensor([0.5, 1], { dtype: "float16" }),
    "no elements": () => eg.zeros([0, 2]),
    "a view": () => eg.arange(4).reshape([2, 2]).t(),
    "a result with a graph": () => eg.ones([2], { requiresGrad: true }).mul(2),
  };
  for (const [name, make] of Object.entries(kEqual)) {
    test(`of ${name}`, () => assert.equal(tensorsAreEqual(make(), make()), true));
  }

  const kUnequal = {
    elements: [eg.tensor([1, 2]), eg.tensor([1, 3])],
    "an imaginary part": [
      eg.complex(eg.ones([1]), eg.ones([1])),
      eg.complex(eg.ones([1]), eg.zeros([1])),
    ],
    "the last bit of an integer": [eg.tensor([2n ** 62n]), eg.tensor([2n ** 62n + 1n])],
    dtypes: [eg.ones([2]), eg.ones([2], { dtype: "float64" })],
    shapes: [eg.ones([2, 2]), eg.ones([4])],
    "shapes without elements": [eg.zeros([0, 2]), eg.zeros([0, 3])],
    "a dimension": [eg.tensor(1), eg.tensor([1])],
  };
  for (const [name, [a, b]] of Object.entries(kUnequal)) {
    test(`sees that ${name} differ`, () => assert.equal(tensorsAreEqual(a, b), false));
  }

  test("has no opinion on other values", () => {
    for (const other of [1, null, undefined, [1], new Float32Array([1])]) {
      assert.equal(tensorsAreEqual(eg.tensor([1]), other), undefined);
      assert.equal(tensorsAreEqual(other, eg.tensor([1])), undefined);
    }
    assert.equal(tensorsAreEqual("a", "a"), undefined);
  });

  test("does not compare what is disposed", () => {
    const x = eg.ones([1]);
    x.dispose();
    assertThrows(() => tensorsAreEqual(x, x), "Disposed");
    assertThrows(() => tensorsAreEqual(eg.ones([1]), x), "Disposed");
  });
});

// Jest copies the values that differ, with the properties of their prototypes or only those that an object lists, and prints the
// copies.
function copied(object) {
  const kSymbol = Symbol.for("@jest/serializableProperties");
  const descriptors = {};
  for (let one = object; one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    const names = one[kSymbol] ?? Reflect.ownKeys(Object.getOwnPropertyDescriptors(one));
    for (const name of names) descriptors[name] ??= Object.getOwnPropertyDescriptor(one, name);
  }
  const copy = Object.create(Object.getPrototypeOf(object));
  for (const [name, { enumerable }] of Object.entries(descriptors)) {
    const value = object[name];
    Object.defineProperty(copy, name, { value, enumerable, writable: true, configurable: true });
  }
  return copy;
}

describe("a copy that is printed", () => {
  for (const [name, make] of Object.entries({
    "a number": () => eg.tensor(2),
    "a row": () => eg.tensor([1, 2]),
    "rows of a graph": () => eg.ones([2, 3, 1], { requiresGrad: true }).mul(3),
    "what inference mode made": () => eg.inferenceMode(() => eg.ones([2])),
    "a parameter": () => new eg.nn.Parameter(eg.ones([2])),
    "a buffer": () => new eg.nn.Buffer(eg.ones([2])),
  })) {
    test(`of ${name} has its elements`, () => {
      const x = make();
      const { jsHandles } = eg.memory();
      assert.deepEqual(copied(x).toJSON(), x.arraySync());
      assert.equal(eg.memory().jsHandles, jsHandles);
    });
  }

  test("of something disposed is made, too", () => {
    const x = eg.ones([1]);
    x.dispose();
    assert.ok(copied(x) instanceof eg.Tensor);
  });
});

test("expect() compares tensors as soon as the package is imported in a test runner", async () => {
  const program = `
    const customEqualityTesters = [];
    globalThis[Symbol.for("$$jest-matchers-object")] = { customEqualityTesters };
    const { testing } = await import("edgegrad");
    console.log(customEqualityTesters.length, customEqualityTesters[0] === testing.tensorsAreEqual);`;
  const { stdout, stderr } = await runNode(["--input-type=module", "--eval", program]);
  assert.equal(stdout, "1 true\n", stderr);
});

test("a runner that cannot compare tensors is told how", () => {
  assertThrows(() => [...eg.tensor(1)], "InvalidArgument", /addEqualityTesters\(\[eg\.testing\./);
});
