// eg.io.save() and load(): values with tensors, and training that resumes exactly from a file.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { io, nn, optim } = eg;
const again = (value, options) => io.load(io.save(value), options);

/** Returns a file with a different structure. */
function withStructure(structure, tensors = {}) {
  return io.saveSafetensors(tensors, { metadata: { "edgegrad.structure": structure } });
}

const withValue = (value, tensors) => withStructure(JSON.stringify({ version: 1, value }), tensors);

describe("save and load", () => {
  const kValues = {
    "plain values": { a: 1, b: -2.5e-300, c: "text\u0000\ud800", d: true, e: null, f: [], g: {} },
    "numbers that JSON does not have": [NaN, Infinity, -Infinity, -0, 0, 2 ** 60],
    bigints: [0n, -(2n ** 70n), 2n ** 64n],
    undefined: { a: undefined, list: [undefined, 1] },
    "odd names": { __metadata__: 1, "": 2, "a.b": 3, __proto: 4, é: 5, 10: 6, 2: 7 },
    "names like those of the file": {
      $tensor: "x",
      list: [{ $number: "NaN" }, { $object: { $bigint: 1 } }, { plain: 1, $: 2 }],
    },
    arrays: [
      new Float32Array([1.5, NaN]),
      new Float64Array([1e300]),
      new Int8Array([-1]),
      new Uint8ClampedArray([255]),
      new Uint16Array([65535]),
      new BigInt64Array([-5n]),
      new BigUint64Array([2n ** 64n - 1n]),
      new Uint32Array(0),
      new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
    ],
    "one number": 3,
    "one text": "x",
    nothing: null,
  };
  for (const [what, value] of Object.entries(kValues)) {
    test(what, () => assert.deepEqual(again(value), value));
  }

  test("a name that is __proto__", () => {
    const value = JSON.parse('{"__proto__": 5}');
    assert.deepEqual(Object.entries(again(value)), [["__proto__", 5]]);
  });

  test("tensors of all stored types, scalars, empty ones, views and the gradient's flag", () => {
    const value = {
      list: [
        eg.tensor([1.5, -2], { requiresGrad: true }),
        eg.tensor(2n ** 62n),
        eg.tensor([true, false]),
        eg.tensor([{ re: 1, im: -1 }]),
      ],
      empty: eg.zeros([2, 0]),
      view: eg.arange(6).reshape([2, 3]).t(),
      double: eg.tensor([1 / 3], { dtype: "float64" }),
    };
    const loaded = again(value);
    const all = ({ list, ...rest }) => [...list, ...Object.values(rest)];
    for (const [i, t] of all(loaded).entries()) {
      const expected = all(value)[i];
      const facts = ({ shape, dtype, requiresGrad, isLeaf }) => ({
        shape,
        dtype,
        requiresGrad,
        isLeaf,
      });
      assert.deepEqual(facts(t), facts(expected));
      assert.deepEqual([...t.dataSync()], [...expected.dataSync()]);
    }
  });

  test("what is in several places is stored once and stays one", () => {
    const t = eg.ones([1000]);
    const array = new Float32Array(1000);
    const loaded = again({ a: t, b: [t, { c: t }], array, other: array });
    assert.equal(loaded.a, loaded.b[0]);
    assert.equal(loaded.a, loaded.b[1].c);
    assert.equal(loaded.array, loaded.other);
    assert.ok(io.save([t, t, t]).length < 4500);
  });

  test("names of tensors are their places, also where two have one path", () => {
    const file = io.save({ a: { b: eg.tensor(1) }, "a.b": eg.tensor(2), c: [eg.tensor(3)] });
    assert.deepEqual(Object.keys(io.loadSafetensors(file)).sort(), ["a.b", "a.b#2", "c.0"]);
    const { a, "a.b": other, c } = io.load(file);
    assert.deepEqual([a.b.item(), other.item(), c[0].item()], [1, 2, 3]);
    assert.deepEqual(Object.keys(io.loadSafetensors(io.save(eg.ones([2])))), ["value"]);
  });

  test("metadata is text beside the value", () => {
    const file = io.save({ a: 1 }, { metadata: { epoch: "3", é: "ü" } });
    const { epoch, é } = io.readSafetensorsMetadata(file);
    assert.deepEqual([epoch, é], ["3", "ü"]);
    assert.deepEqual(io.load(file), { a: 1 });
    assert.deepEqual(io.readSafetensorsMetadata(io.saveSafetensors({})), {});
    const metadata = { author: "me" };
    assert.deepEqual(io.readSafetensorsMetadata(io.saveSafetensors({}, { metadata })), metadata);
  });

  test("no tensors are left behind", () => {
    const value = { t: eg.ones([3]), array: new Float32Array(3) };
    const { tensors } = eg.memory();
    const file = io.save(value);
    assert.throws(() => io.save({ ...value, f() {} }));
    assert.throws(() => io.load(withValue([{ $tensor: "a" }, { $what: 1 }], { a: value.t })));
    assert.equal(eg.memory().tensors, tensors);
    eg.scope(() => void io.load(file));
    assert.equal(eg.memory().tensors, tensors);
  });
});

describe("what cannot be stored is named by its place", () => {
  const circle = { list: [] };
  circle.list.push(circle);
  let deep = {};
  for (let i = 0; i < 1000; i++) deep = { deep };
  const kCases = [
    [{ model: new nn.Linear(1, 1) }, /"model" cannot be stored: .*Save its stateDict\(\)/],
    [{ a: [1, { b: () => 1 }] }, /"a\.1\.b" cannot be stored: it is a function/],
    [new Map(), /the value cannot be stored: .*Map/],
    [{ when: new Date() }, /"when" cannot be stored/],
    [{ s: Symbol("x") }, /"s" cannot be stored/],
    [{ view: new DataView(new ArrayBuffer(1)) }, /"view" cannot be stored/],
    [circle, /"list\.0" cannot be stored: .*It contains itself/],
    [deep, /deeper than 500 levels/],
  ];
  for (const [value, text] of kCases) {
    test(String(text), () => assertThrows(() => io.save(value), "InvalidArgument", text));
  }

  test("types that the format lacks", () => {
    const value = { z: eg.tensor([{ re: 1, im: 2 }], { dtype: "complex128" }) };
    assertThrows(() => io.save(value), "DtypeMismatch", /\[save\] "z".*complex128/);
  });

  test("arrays and tensors that are larger than any tensor", async () => {
    // Memory that nobody touches is not taken.
    const values = [new Float64Array(2 ** 28), eg.zeros([1]).expand(2 ** 32)];
    for (const value of values) {
      assertThrows(() => io.save({ value }), "OutOfMemory", /^\[save\] .*\d{10} bytes/);
    }
    const t = values[1];
    const text = /^\[saveSafetensors\] .* bytes/;
    assertThrows(() => io.saveSafetensors({ t }), "OutOfMemory", text);
    await assertRejects(io.saveSafetensors({ t }, new WritableStream()), "OutOfMemory", text);
  });

  test("metadata that is none, or where the structure is", () => {
    const refuses = (metadata, text) => {
      assertThrows(() => io.save(1, { metadata }), "InvalidArgument", text);
    };
    refuses({ epoch: 3 }, /\[save\] metadata/);
    refuses({ "edgegrad.structure": "x" }, /"edgegrad\.structure" is reserved/);
  });
});

describe("broken files", () => {
  const a = eg.ones([2]);
  const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
  const kCases = {
    "no save() made it": [io.saveSafetensors({ a }), /loadSafetensors\(\)/],
    "cut off": [io.save({ a }).subarray(0, -1), /\[load\] invalid file: /],
    "not JSON": [withStructure("{"), /structure is not JSON/],
    "a later version": [withStructure('{"version":2}'), /version 2, expected 1/],
    "a structure that is null": [withStructure("null"), /version undefined, expected 1/],
    "a name twice": [withStructure('{"version":1,"value":{"a":1,"a":2}}'), /"a" twice/],
    "a tensor that is not there": [withValue({ $tensor: "b" }), /there is no tensor "b"/],
    "a tensor without a place": [withValue(1, { a }), /tensor "a" does not occur/],
    "an unknown tag": [withValue({ $date: 1 }), /has \$date: number 1/],
    "a bigint that is none": [withValue({ $bigint: "x" }), /\$bigint: "x"/],
    "an array that is none": [withValue({ $array: "a", type: "Map" }, { a }), /unknown type Map/],
    "an array of half an element": [
      withValue({ $array: "a", type: "Float64Array" }, { a: eg.ones([1]) }),
      /a Float64Array cannot have 4 bytes/,
    ],
    "texts that are objects": [
      withValue({ $array: { toString: 1 }, type: { toString: 1 } }, { a: eg.ones([1]) }),
      /invalid file: /,
    ],
    "a version that is an object": [
      withStructure('{"version":{"toString":1}}'),
      /version {"toString":1}, expected 1/,
    ],
    "too deep": [withStructure(`{"version":1,"value":${deep}}`), /deeper than 500 levels/],
  };
  for (const [what, [file, text]] of Object.entries(kCases)) {
    test(what, () => assertThrows(() => io.load(file), "InvalidArgument", text));
  }
});

describe("training resumes exactly from a file", () => {
  const { lrScheduler } = optim;
  const kTrainers = {
    "Adam with a sequence of schedules": (params) => {
      const optimizer = new optim.Adam(params, { lr: 0.05, amsgrad: true });
      const warmUp = new lrScheduler.LinearLR(optimizer, { totalIters: 3 });
      const rest = new lrScheduler.CosineAnnealingLR(optimizer, 8);
      return [optimizer, new lrScheduler.SequentialLR(optimizer, [warmUp, rest], [3])];
    },
    "NAdam with warm restarts": (params) => {
      const optimizer = new optim.NAdam(params, { lr: 0.02 });
      return [optimizer, new lrScheduler.CosineAnnealingWarmRestarts(optimizer, 2, 2)];
    },
    "SGD in a cycle": (params) => {
      const optimizer = new optim.SGD(params, { lr: 0.05, momentum: 0.9 });
      return [optimizer, new lrScheduler.CyclicLR(optimizer, 0.01, 0.1, 3)];
    },
    "LBFGS with a fading rate": (params) => {
      const optimizer = new optim.LBFGS(params, { lr: 0.5, maxIter: 3 });
      return [optimizer, new lrScheduler.ExponentialLR(optimizer, 0.9)];
    },
  };

  // If the generator's state is available, the random numbers also continue.
  const { getState, setState } = eg.random ?? {};

  function makeTrainer(make) {
    const model = new nn.Sequential(
      new nn.Linear(3, 8),
      new nn.BatchNorm1d(8),
      new nn.Dropout(getState ? 0.2 : 0),
      new nn.Linear(8, 1),
    );
    const [optimizer, scheduler] = make(model.parameters());
    return { model, optimizer, scheduler };
  }

  const x = eg.linspace(-1, 1, 24).reshape([8, 3]);
  const y = x.sum(1, true).sin();

  function train({ model, optimizer, scheduler }, steps) {
    return Array.from({ length: steps }, () => {
      const loss = optimizer.step(() => {
        optimizer.zeroGrad();
        const value = eg.mseLoss(model.call(x), y);
        value.backward();
        return value;
      });
      scheduler.step();
      return loss.item();
    });
  }

  const checkpoint = ({ model, optimizer, scheduler }, epoch) =>
    io.save({
      model: model.stateDict(),
      optimizer: optimizer.stateDict(),
      scheduler: scheduler.stateDict(),
      random: getState?.(),
      epoch,
    });

  function resume(trainer, bytes) {
    const saved = io.load(bytes);
    trainer.model.loadStateDict(saved.model);
    trainer.optimizer.loadStateDict(saved.optimizer);
    trainer.scheduler.loadStateDict(saved.scheduler);
    if (saved.random !== undefined) setState(saved.random);
    return saved.epoch;
  }

  for (const [name, make] of Object.entries(kTrainers)) {
    test(name, () => {
      eg.manualSeed(3);
      const whole = makeTrainer(make);
      train(whole, 5);
      const bytes = checkpoint(whole, 5);
      const expected = train(whole, 5);
      eg.manualSeed(4);
      const later = makeTrainer(make);
      assert.equal(resume(later, bytes), 5);
      assert.deepEqual(train(later, 5), expected);
      const numbers = ({ model }) => Object.values(model.stateDict()).map((t) => [...t.dataSync()]);
      assert.deepEqual(numbers(later), numbers(whole));
    });
  }
});
