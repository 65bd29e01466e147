// Values of another realm, as test environments (jest, vm contexts) and iframes make them: each is taken as its namesake here.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createContext, runInContext } from "node:vm";
import * as eg from "edgegrad";
import { assertRejects, assertTensor, assertThrows } from "../support/assert.mjs";

const context = createContext({});
const foreign = (code) => runInContext(code, context);
const foreignMap = (entries) => foreign("(entries) => new Map(entries)")(entries);
const foreignSet = (values) => foreign("(values) => new Set(values)")(values);

const kTypedArrays = [
  "Int8Array",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "BigInt64Array",
  "BigUint64Array",
  "Float32Array",
  "Float64Array",
];

describe("of another realm", () => {
  before(() => eg.init({ threads: 1 }));
  after(() => eg.shutdown());

  for (const name of kTypedArrays) {
    test(`a ${name} has the dtype that it has here`, () => {
      const values = name.startsWith("Big") ? [1n, 2n] : [1, 2];
      const own = eg.tensor(new globalThis[name](values));
      const other = eg.tensor(foreign(`(values) => new ${name}(values)`)(values));
      assert.equal(other.dtype, own.dtype);
      eg.testing.assertClose(other, own);
    });
  }

  test("tensors in a Map and a Set outlive the scope that returns them", () => {
    const x = eg.scope(() => foreignMap([["x", eg.ones([2])]])).get("x");
    const [y] = eg.scope(() => foreignSet([eg.ones([2])]));
    assertTensor(x, [1, 1]);
    assertTensor(y, [1, 1]);
  });

  test("a Map and a Set in a module are cloned, and their tensors are its parts' own", () => {
    class Net extends eg.nn.Module {
      constructor() {
        super();
        this.known = foreignMap([["scale", eg.ones([1])]]);
        this.names = foreignSet(["a"]);
      }
    }
    const copy = new Net().clone();
    assertTensor(copy.known.get("scale"), [1]);
    assert.deepEqual([...copy.names], ["a"]);
  });

  test("a Map and a Set are saved for PyTorch", async () => {
    const state = foreignMap([["w", eg.ones([2])]]);
    const bytes = await eg.io.saveTorch({ state, seen: foreignSet([1, 2]) });
    const read = await eg.io.loadTorch(bytes);
    assertTensor(read.state.w, [1, 1]);
    assert.deepEqual([...read.seen], [1, 2]);
  });

  test("a Map is compared", () => {
    eg.testing.assertClose(foreignMap([["a", eg.ones([1])]]), new Map([["a", eg.ones([1])]]));
  });

  test("bytes are read", () => {
    const bytes = eg.io.save({ w: eg.ones([2]) });
    const copy = foreign("(bytes) => Uint8Array.from(bytes)")(bytes);
    for (const given of [copy, copy.buffer]) assertTensor(eg.io.load(given).w, [1, 1]);
  });

  test("the promise of a module's forward names the layer that fails", async () => {
    class Net extends eg.nn.Module {
      inner = new eg.nn.Linear(3, 1);

      forward(x) {
        const run = foreign("(fn) => Promise.resolve().then(fn)");
        return run(() => this.inner.call(x));
      }
    }
    await assert.rejects(new Net().call(eg.ones([2])), /\(in inner: Linear/);
  });

  test("a Map that holds tensors cannot be sent", async () => {
    const module = new URL("../support/spawn_module.mjs", import.meta.url).href;
    const sending = eg.spawn(module, "same", foreignMap([["x", eg.ones([1])]]));
    await assert.rejects(sending, { code: "InvalidArgument" });
  });
});

describe("bytes that were transferred to another thread", () => {
  before(() => eg.init({ threads: 1 }));
  after(() => eg.shutdown());

  const transferred = (array) => {
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  };

  test("are refused where they would make an empty tensor", () => {
    for (const make of [
      (x) => eg.tensor(x),
      (x) => eg.tensor([x, x]),
      (x) => eg.tensor(x, { shape: [0] }),
    ]) {
      const x = transferred(new Float32Array(4));
      assertThrows(
        () => make(x),
        "InvalidArgument",
        /\[tensor\] the Float32Array has no bytes any more/,
      );
    }
  });

  test("are refused where a file is read", async () => {
    const bytes = transferred(eg.io.save({ w: eg.ones([2]) }).slice());
    for (const given of [bytes, bytes.buffer]) {
      const message = /\[load\] the (Uint8Array|ArrayBuffer) has no bytes any more/;
      assertThrows(() => eg.io.load(given), "InvalidArgument", message);
      await assertRejects(eg.io.loadTorch(given), "InvalidArgument", /no bytes any more/);
    }
  });

  test("empty arrays are not such", () => {
    assert.deepEqual(eg.tensor(new Float32Array(0)).shape, [0]);
    assert.deepEqual(eg.tensor(new Float32Array(new ArrayBuffer(8), 8)).shape, [0]);
  });
});
