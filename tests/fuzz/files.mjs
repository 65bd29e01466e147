// Files for the readers: valid ones with parts replaced, and malicious headers.

import { wholeNumber } from "./hostile.mjs";

const kTypes = ["F64", "F32", "I64", "I32", "U8", "BOOL", "C64", "F16", "BF16", "I16", "U16", "I8"];
const kWidths = {
  F64: 8,
  F32: 4,
  I64: 8,
  I32: 4,
  U8: 1,
  BOOL: 1,
  C64: 8,
  F16: 2,
  BF16: 2,
  I16: 2,
  U16: 2,
  I8: 1,
};
const kIdxTypes = [0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e];
const kIdxWidths = { 8: 1, 9: 1, 11: 2, 12: 4, 13: 4, 14: 8 };

/** Reads a file that is almost always invalid. */
export async function fileCall(random, program) {
  const [reader, bytes] = await random.weighted(kReaders)(random, program);
  const damaged = random.chance(0.5) ? damage(random, bytes) : bytes;
  const call = `${reader}(Buffer.from("${Buffer.from(damaged).toString("base64")}", "base64"))`;
  if (call.startsWith("await ")) await program.runAsync(call);
  else program.run(call);
}

const kReaders = [
  [5, (random) => ["eg.io.loadSafetensors", safetensors(random)]],
  [1, (random) => ["eg.io.readSafetensorsMetadata", safetensors(random)]],
  [2, (random) => ["await eg.io.openSafetensors", safetensors(random)]],
  [2, async (random, { eg }) => ["await eg.io.loadTorch", await pickled(random, eg)]],
  [3, (random) => ["eg.data.idx", idx(random)]],
  [3, (random, program) => ["eg.io.load", saved(random, program)]],
];

// A file written by saveTorch(). tests/js/io/mutated_files.test.mjs has those of PyTorch.
function pickled(random, eg) {
  return eg.scope(() => eg.io.saveTorch([eg.randn([2, 3]).t(), savedNumbers(random), { a: null }]));
}

function savedNumbers(random) {
  return random.pick([
    [1n, -(2n ** 70n), 0.5],
    new Map([[1, "x"]]),
    new Set([2]),
    new Uint8Array(3),
  ]);
}

// A file written by save(), with a modified structure.
function saved(random, { eg }) {
  const file = eg.scope(() => eg.io.save(savedValue(random, eg)));
  if (random.chance(0.2)) return file;
  const start = 8 + Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, start)));
  const key = "edgegrad.structure";
  const parts = [...header.__metadata__[key].matchAll(/"[^"]*"|\d+|true|null/g)];
  for (let i = random.int(3); i >= 0; i--) {
    const { 0: part } = random.pick(parts);
    const other = random.pick(kStructures);
    header.__metadata__[key] = header.__metadata__[key].replace(part, () => other);
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + file.length - start);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(file.subarray(start), 8 + json.length);
  return bytes;
}

function savedValue(random, eg) {
  return random.pick([
    { a: eg.randn([2, 3]), b: [eg.ones([1], { requiresGrad: true }), Number.NaN] },
    { a: eg.tensor([1n]), n: 2n ** 70n, t: "text", u: undefined, f: new Float32Array(3) },
    [eg.zeros([0]), new BigInt64Array(1), { $tensor: "a" }, [[[]]]],
    eg.ones([2]),
    5,
  ]);
}

// Replacements for a string or a number of a structure.
const kStructures = [
  "null",
  "-1",
  "1e400",
  '"a"',
  '"b.0"',
  '"$tensor"',
  '"$array"',
  '"$bigint"',
  '"$number"',
  '"$object"',
  '"$undefined"',
  '"$other"',
  '"__proto__"',
  '"Float64Array"',
  '"BigUint64Array"',
  '"Object"',
  '"requiresGrad"',
  "[1, 2]",
  "{}",
  '{"$tensor":"a","requiresGrad":true}',
  '{"$array":"a","type":"Float64Array"}',
  '{"$array":"a","type":"Uint8Array"}',
  '{"$bigint":"1e5"}',
  '{"$number":"x"}',
  `${"[".repeat(3000)}${"]".repeat(3000)}`,
  `${'{"$object":{"a":'.repeat(800)}1${"}}".repeat(800)}`,
  '"',
  "",
];

function safetensors(random) {
  const count = random.int(4);
  const header = {};
  let end = 0;
  if (random.chance(0.2)) header.__metadata__ = value(random, { format: "pt" });
  for (let i = 0; i < count; i++) {
    const dtype = random.pick(kTypes);
    const shape = sizes(random);
    const bytes = shape.reduce((product, size) => product * size, kWidths[dtype]);
    const start = end;
    end += bytes;
    const name = random.pick([
      "a",
      "b",
      "weight",
      "",
      "__proto__",
      "constructor",
      "\ud800",
      "__metadata__",
    ]);
    Object.defineProperty(header, name, {
      value: {
        dtype: random.chance(0.9) ? dtype : value(random, dtype),
        shape: random.chance(0.85) ? shape : value(random, shape),
        data_offsets: random.chance(0.85) ? [start, end] : value(random, [start, end]),
      },
      enumerable: true,
      configurable: true,
    });
  }
  const text = headerText(random, header);
  const json = new TextEncoder().encode(text);
  const file = new Uint8Array(8 + json.length + Math.min(end, 4096));
  const view = new DataView(file.buffer);
  view.setBigUint64(0, random.chance(0.93) ? BigInt(json.length) : hugeSize(random), true);
  file.set(json, 8);
  for (let i = 8 + json.length; i < file.length; i++) file[i] = random.int(256);
  return file;
}

function headerText(random, header) {
  let text = JSON.stringify(header);
  if (random.chance(0.1))
    text = text.replace(/\d+/g, (digits) =>
      random.chance(0.4) ? evaluated(wholeNumber(random, 0.8)) : digits,
    );
  if (random.chance(0.05))
    text = text.replace("{", '{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},');
  if (random.chance(0.03))
    text = random.pick([
      "[]",
      "null",
      "{",
      "{}}",
      '"x"',
      "",
      '{"a":1}',
      `${"[".repeat(20000)}`,
      `{"a":${"[".repeat(20000)}`,
    ]);
  if (random.chance(0.1)) text += " ".repeat(random.int(9));
  return text;
}

function sizes(random) {
  if (random.chance(0.05))
    return Array(random.pick([63, 64, 65, 255, 300])).fill(random.pick([0, 1]));
  if (random.chance(0.05))
    return random.pick([
      [0, 2 ** 32],
      [2 ** 32, 0, 2 ** 32],
      [0, 2 ** 53 - 1],
      [65536, 65536],
      [2 ** 31, 0],
    ]);
  return Array.from({ length: random.int(4) }, () => random.int(4));
}

// Other JSON values to replace a value with.
function value(random, instead) {
  return random.pick([
    null,
    true,
    -1,
    0.5,
    1e300,
    2 ** 53,
    2 ** 63,
    "",
    "F32",
    "F8_E4M3",
    [],
    {},
    [[1]],
    [-1],
    [1, 2, 3],
    ["1"],
    [2 ** 40, 2 ** 40],
    [1e300],
    [0, 2 ** 53 - 1],
    Array(300).fill(1),
    { a: "1" },
    { a: 1 },
    instead,
  ]);
}

function hugeSize(random) {
  return random.pick([
    0n,
    1n,
    2n ** 31n,
    2n ** 32n,
    2n ** 53n,
    2n ** 63n,
    2n ** 64n - 1n,
    100_000_001n,
  ]);
}

function idx(random) {
  const type = random.chance(0.95) ? random.pick(kIdxTypes) : random.int(256);
  const shape = random.chance(0.85)
    ? Array.from({ length: random.int(5) }, () => random.int(4))
    : oddIdxShape(random);
  const count = shape.reduce((product, size) => product * size, kIdxWidths[type] ?? 1);
  const file = new Uint8Array(4 + 4 * shape.length + Math.min(count, 4096));
  const view = new DataView(file.buffer);
  file[2] = type;
  file[3] = shape.length;
  for (const [dim, size] of shape.entries()) view.setUint32(4 + 4 * dim, size);
  for (let i = 4 + 4 * shape.length; i < file.length; i++) file[i] = random.int(256);
  return file;
}

function oddIdxShape(random) {
  if (random.chance(0.5))
    return Array(random.pick([63, 64, 65, 128, 255])).fill(random.pick([0, 1]));
  return random.pick([
    [0, 2 ** 32 - 1],
    [2 ** 32 - 1, 2 ** 32 - 1, 0],
    [65536, 65536],
    [2 ** 31, 2 ** 31, 4],
    [2 ** 32 - 1],
    [641, 6700417],
  ]);
}

// Replaces, truncates or duplicates bytes.
function damage(random, bytes) {
  const copy = [...bytes];
  for (let i = random.int(4); i >= 0; i--) {
    const at = random.int(copy.length + 1);
    const kind = random.int(5);
    if (kind === 0 && at < copy.length) copy[at] = random.int(256);
    else if (kind === 1 && at < copy.length) copy[at] ^= 1 << random.int(8);
    else if (kind === 2) copy.length = at;
    else if (kind === 3) copy.splice(at, 0, ...copy.slice(at, at + random.int(8)));
    else copy.splice(at, random.int(8));
  }
  return copy;
}

function evaluated(text) {
  return String(new Function(`return ${text}`)());
}
