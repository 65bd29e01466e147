// Safetensors files: written files can be read, here and by other libraries, and invalid files are rejected.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { loadSafetensors, saveSafetensors } = eg.io;

/** Returns a file with a header given as a string or as an object. */
function file(header, data = [], size = null) {
  const text = new TextEncoder().encode(
    typeof header === "string" ? header : JSON.stringify(header),
  );
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, size ?? BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}

const entry = (dtype, shape, start, end) => ({ dtype, shape, data_offsets: [start, end] });

describe("saveSafetensors", () => {
  test("writes what loadSafetensors reads, for every dtype", () => {
    const dict = {
      "a.weight": eg.tensor([[1.5, -2]]),
      b: eg.tensor([0.1], { dtype: "float64" }),
      c: eg.tensor([1n, -(2n ** 40n)]),
      d: eg.tensor([-7], { dtype: "int32" }),
      e: eg.tensor([0, 255], { dtype: "uint8" }),
      f: eg.tensor([true, false, true]),
      g: eg.tensor([{ re: 1, im: 2 }]),
      scalar: eg.tensor(3),
      empty: eg.zeros([0, 4]),
      __proto__x: eg.tensor([1]),
    };
    const loaded = loadSafetensors(saveSafetensors(dict));
    assert.deepEqual(Object.keys(loaded).sort(), Object.keys(dict).sort());
    for (const [name, tensor] of Object.entries(dict)) {
      assert.equal(loaded[name].dtype, tensor.dtype);
      assert.deepEqual(loaded[name].shape, tensor.shape);
      assert.deepEqual(loaded[name].arraySync(), tensor.arraySync());
    }
  });

  test("lays the file out as the format says", () => {
    const x = eg
      .tensor([
        [1, 2],
        [3, 4],
      ])
      .transpose(0, 1);
    const bytes = saveSafetensors(
      { b: eg.tensor([1], { dtype: "uint8" }), x },
      { metadata: { format: "pt" } },
    );
    const size = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    assert.equal((8 + size) % 8, 0);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
    assert.deepEqual(header, {
      __metadata__: { format: "pt" },
      x: entry("F32", [2, 2], 0, 16),
      b: entry("U8", [1], 16, 17),
    });
    assert.deepEqual([...new Float32Array(bytes.slice(8 + size, 24 + size).buffer)], [1, 3, 2, 4]);
    assert.equal(bytes.length, 8 + size + 17);
  });

  test("keeps a tensor called __proto__", () => {
    const dict = Object.fromEntries([["__proto__", eg.tensor([5])]]);
    const loaded = loadSafetensors(saveSafetensors(dict));
    assert.deepEqual(Object.keys(loaded), ["__proto__"]);
  });

  test("refuses what is no object of tensors", () => {
    for (const dict of [undefined, null, 5, "a", [eg.ones([1])], new Map([["a", eg.ones([1])]])]) {
      assertThrows(() => saveSafetensors(dict), "InvalidArgument", /^\[saveSafetensors\] dict/);
    }
    assertThrows(() => saveSafetensors({}, { metadata: 5 }), "InvalidArgument", /metadata/);
    assertThrows(
      () => saveSafetensors({}, { meta: {} }),
      "InvalidArgument",
      /unknown option "meta"/,
    );
    assertThrows(() => saveSafetensors({}, 5), "InvalidArgument", /^\[saveSafetensors\]/);
  });

  test("refuses what the format cannot hold", () => {
    assertThrows(() => saveSafetensors({ a: 1 }), "InvalidArgument", /"a"/);
    assertThrows(() => saveSafetensors({ __metadata__: eg.ones([1]) }), "InvalidArgument");
    assertThrows(() => saveSafetensors({}, { metadata: { a: 1 } }), "InvalidArgument");
    const complex = eg.tensor([{ re: 1, im: 1 }], { dtype: "complex128" });
    assertThrows(() => saveSafetensors({ complex }), "DtypeMismatch", /complex128/);
  });
});

describe("loadSafetensors", () => {
  test("reads bytes of any kind, and nothing else", () => {
    const bytes = saveSafetensors({ a: eg.tensor([1.5]) });
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const padded = Uint8Array.from([0, ...bytes]);
    for (const file of [
      bytes,
      bytes.buffer,
      shared,
      shared.buffer,
      padded.subarray(1),
      Buffer.from(bytes),
    ])
      assert.equal(loadSafetensors(file).a.item(), 1.5);
    for (const value of [undefined, null, -1, 2 ** 40, "file", [1, 2], {}]) {
      assertThrows(
        () => loadSafetensors(value),
        "InvalidArgument",
        /^\[loadSafetensors\] expected the bytes/,
      );
    }
  });

  test("reads halves, bfloat16 and uint16", () => {
    const halves = [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c];
    const bytes = file(
      { h: entry("F16", [4], 0, 8), b: entry("BF16", [1], 8, 10), u: entry("U16", [1], 10, 12) },
      [...halves, 0xc0, 0x3f, 0xff, 0xfe],
    );
    const { h, b, u } = loadSafetensors(bytes);
    assert.deepEqual(h.arraySync(), [1, -2, 2 ** -24, Infinity]);
    assert.deepEqual(b.arraySync(), [1.5]);
    assert.deepEqual(u.arraySync(), [0xfeff]);
    assert.equal(u.dtype, "uint16");
  });

  test("reads a file inside a larger buffer, and one without tensors", () => {
    const padded = Uint8Array.from([1, 2, 3, ...file({ x: entry("U8", [2], 0, 2) }, [7, 8])]);
    assert.deepEqual(loadSafetensors(padded.subarray(3)).x.arraySync(), [7, 8]);
    assert.deepEqual(loadSafetensors(file("{}    ")), {});
    assert.deepEqual(loadSafetensors(file({ __metadata__: { a: "b" } }).buffer), {});
  });

  test("reads headers as other writers have them", () => {
    const text = `{ "b\\u00e9" : {"shape":[ ],"more":{"a":[1,"]"]},"dtype":"U8","data_offsets":[ 1 , 2 ]},
      "ü" :{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}\n `;
    const read = loadSafetensors(file(text, [7, 8]));
    assert.deepEqual(Object.keys(read), ["bé", "ü"]);
    assert.deepEqual([read["bé"].item(), read["ü"].tolist()], [8, [7]]);
  });

  test("reads headers of up to 100 MB", () => {
    const note = "x".repeat(2 ** 25);
    const bytes = saveSafetensors({ x: eg.tensor([1.5]) }, { metadata: { note } });
    assert.equal(loadSafetensors(bytes).x.item(), 1.5);
  });

  const four = [0, 0, 0, 0];
  const hostile = {
    "an empty file": new Uint8Array(0),
    "a file shorter than its size field": new Uint8Array(7),
    "a header beyond the end": file("{}", [], 3n),
    "a header of 2^63 bytes": file("{}", [], 2n ** 63n),
    "a header that is too large to be meant": file("{}", [], 100_000_001n),
    "a header that is not JSON": file("{nonsense"),
    "a header that is not text": file(String.fromCharCode(0xd800)).fill(0xff, 8),
    "a header that is a list": file("[]"),
    "a header that is null": file("null"),
    "a header that starts with a space": file(" {}"),
    "a header nested without end": file(`{"a":${"[".repeat(200_000)}`),
    "an entry that is no object": file({ x: 3 }),
    "an entry without offsets": file({ x: { dtype: "F32", shape: [1] } }, four),
    "an unknown dtype": file({ x: entry("Q7", [1], 0, 4) }, four),
    "a dtype that is an object's property": file({ x: entry("constructor", [1], 0, 4) }, four),
    "a shape that is no list": file({ x: entry("F32", 1, 0, 4) }, four),
    "a negative size": file({ x: entry("F32", [-1], 0, 4) }, four),
    "a fractional size": file({ x: entry("F32", [0.5], 0, 2) }, [0, 0]),
    "a size beyond exact numbers": file({ x: entry("F32", [2 ** 53], 0, 4) }, four),
    "sizes whose product overflows": file({ x: entry("F32", [2 ** 32, 2 ** 32], 0, 4) }, four),
    "sizes whose strides overflow": file({ x: entry("F32", [0, 2 ** 40, 2 ** 40], 0, 0) }),
    "too many dimensions": file({ x: entry("F32", new Array(65).fill(1), 0, 4) }, four),
    "three offsets": file({ x: { dtype: "F32", shape: [1], data_offsets: [0, 4, 4] } }, four),
    "offsets in the wrong order": file({ x: entry("F32", [0], 4, 0) }, four),
    "offsets beyond the end": file({ x: entry("F32", [2], 0, 8) }, four),
    "offsets that do not fit the shape": file({ x: entry("F32", [2], 0, 4) }, four),
    "tensors that overlap": file({ x: entry("U8", [4], 0, 4), y: entry("U8", [2], 2, 4) }, four),
    "a gap between tensors": file({ x: entry("U8", [1], 0, 1), y: entry("U8", [2], 2, 4) }, four),
    "a gap before the first tensor": file({ x: entry("U8", [2], 2, 4) }, four),
    "data that belongs to no tensor": file({ x: entry("U8", [2], 0, 2) }, four),
    "two entries of one name": file(
      '{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"\\u0078":{"dtype":"U8","shape":[0],"data_offsets":[4,4]}}',
      four,
    ),
    "two shapes in one entry": file(
      '{"x":{"dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4]}}',
      four,
    ),
    "metadata that is no text": file({ __metadata__: { a: 1 } }),
    "metadata that is a list": file({ __metadata__: [] }),
    "something behind the header": file("{}{}"),
    "a comma before the end": file("{,}"),
    "a size with a leading zero": file(
      '{"x":{"dtype":"U8","shape":[04],"data_offsets":[0,4]}}',
      four,
    ),
    "a name with a control character": file('{"a\nb":{}}'),
    "a list of sizes without end": file(`{"x":{"shape":[${"1,".repeat(100_000)}`),
    "a field of no version without end": file(`{"x":{"more":${"[".repeat(100_000)}`),
  };
  for (const [name, bytes] of Object.entries(hostile)) {
    test(`refuses ${name}`, () => {
      const before = eg.memory();
      assertThrows(() => loadSafetensors(bytes), "InvalidArgument", /loadSafetensors/);
      assert.equal(eg.memory().jsHandles, before.jsHandles);
    });
  }

  test("survives every change of one byte of a good file", () => {
    const good = saveSafetensors({ a: eg.tensor([1, 2]), b: eg.tensor([true]) });
    for (let i = 0; i < good.length; i++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const bytes = good.slice();
        bytes[i] ^= flip;
        try {
          for (const tensor of Object.values(loadSafetensors(bytes))) tensor.dispose();
        } catch (error) {
          assert.equal(error.code, "InvalidArgument", error.stack);
        }
      }
    }
  });
});

describe("types of files are dtypes:", () => {
  const read = (type, count, data) =>
    loadSafetensors(file({ x: entry(type, [count], 0, data.length) }, data)).x;
  const bytesOf = (array) => [...new Uint8Array(array.buffer)];

  test("U16, U32 and U64 are unsigned integers", () => {
    const cases = [
      ["U16", "uint16", new Uint16Array([0, 65535]), [0, 65535]],
      ["U32", "uint32", new Uint32Array([1, 2 ** 32 - 1]), [1, 2 ** 32 - 1]],
      ["U64", "uint64", new BigUint64Array([5n, 2n ** 64n - 1n]), [5, 2n ** 64n - 1n]],
    ];
    for (const [type, dtype, array, expected] of cases) {
      const x = read(type, array.length, bytesOf(array));
      assert.deepEqual([x.dtype, x.tolist()], [dtype, expected]);
    }
  });

  test("F8_E4M3 and F8_E5M2 are float8, every one of their 256 values", () => {
    const all = Array.from({ length: 256 }, (_, i) => i);
    const formats = {
      F8_E4M3: { dtype: "float8_e4m3fn", digits: 3, bias: 7 },
      F8_E5M2: { dtype: "float8_e5m2", digits: 2, bias: 15 },
    };
    for (const [type, { dtype, digits, bias }] of Object.entries(formats)) {
      const x = read(type, 256, all);
      assert.equal(x.dtype, dtype);
      const expected = all.map((bits) => {
        const exponent = (bits & 0x7f) >> digits;
        const fraction = (bits & ((1 << digits) - 1)) / (1 << digits);
        const sign = bits < 128 ? 1 : -1;
        if (type === "F8_E4M3" && (bits & 0x7f) === 0x7f) return Number.NaN;
        if (type === "F8_E5M2" && exponent === 31) return fraction === 0 ? sign / 0 : Number.NaN;
        if (exponent === 0) return sign * fraction * 2 ** (1 - bias);
        return sign * (1 + fraction) * 2 ** (exponent - bias);
      });
      assert.deepEqual([...x.dataSync()], expected);
    }
  });

  test("what is unknown is refused by the names of tensor and type", () => {
    assertThrows(() => read("F4", 2, [0]), "InvalidArgument", /"x": unsupported dtype "F4"/);
  });
});
