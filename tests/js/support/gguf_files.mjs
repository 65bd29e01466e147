// GGUF files written from the definition of the format: header, metadata, tensors, and quantizers that say which numbers their blocks stand for.

const kValueTypes = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9, uint64: 10 };
const kTypes = {
  F32: 0,
  F16: 1,
  Q4_0: 2,
  Q4_1: 3,
  Q5_0: 6,
  Q5_1: 7,
  Q8_0: 8,
  Q4_K: 12,
  Q5_K: 13,
  Q6_K: 14,
  BF16: 30,
};

/** Collects little-endian numbers. */
class Bytes {
  parts = [];
  length = 0;
  put(bytes) {
    this.parts.push(bytes);
    this.length += bytes.length;
  }
  number(size, method, value) {
    const bytes = new Uint8Array(size);
    new DataView(bytes.buffer)[method](0, value, true);
    this.put(bytes);
  }
  u32 = (value) => this.number(4, "setUint32", value);
  u64 = (value) => this.number(8, "setBigUint64", BigInt(value));
  string = (text) => {
    const bytes = new TextEncoder().encode(text);
    this.u64(bytes.length);
    this.put(bytes);
  };
  value = (type, value) => {
    if (type === "string") this.string(value);
    else if (type === "float32") this.number(4, "setFloat32", value);
    else if (type === "bool") this.number(1, "setUint8", value ? 1 : 0);
    else if (type === "int32") this.number(4, "setInt32", value);
    else if (type === "uint64") this.u64(value);
    else this.u32(value);
  };
  pad = (to) => this.put(new Uint8Array((to - (this.length % to)) % to));
  whole() {
    const all = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

const typeOf = (value) =>
  typeof value === "string"
    ? "string"
    : typeof value === "boolean"
      ? "bool"
      : Number.isInteger(value)
        ? "uint32"
        : "float32";

/**
 * Returns the bytes of a file. Metadata are plain values, or { type, value }, or { list: type, values }; tensors are { type, shape, bytes } by
 * name, of which `stored()` makes one.
 */
export function ggufFile({ metadata = {}, tensors = {}, version = 3, alignment = 32 }) {
  const out = new Bytes();
  out.put(new TextEncoder().encode("GGUF"));
  out.u32(version);
  out.u64(Object.keys(tensors).length);
  out.u64(Object.keys(metadata).length);
  for (const [key, given] of Object.entries(metadata)) {
    out.string(key);
    if (given?.list !== undefined) {
      out.u32(kValueTypes.array);
      out.u32(kValueTypes[given.list]);
      out.u64(given.values.length);
      for (const one of given.values) out.value(given.list, one);
      continue;
    }
    const type = given?.type ?? typeOf(given);
    out.u32(kValueTypes[type]);
    out.value(type, given?.value ?? given);
  }
  let at = 0;
  for (const [name, { type, shape, bytes }] of Object.entries(tensors)) {
    out.string(name);
    out.u32(shape.length);
    for (const size of shape.toReversed()) out.u64(size);
    out.u32(kTypes[type] ?? type);
    out.u64(at);
    at = Math.ceil((at + bytes.length) / alignment) * alignment;
  }
  out.pad(alignment);
  for (const { bytes } of Object.values(tensors)) {
    out.put(bytes);
    out.pad(alignment);
  }
  return out.whole();
}

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/** The bits of the float16 that is nearest to a number of normal size, or zero. */
export function halfBits(number) {
  if (number === 0) return 0;
  const sign = number < 0 ? 0x8000 : 0;
  let exponent = Math.floor(Math.log2(Math.abs(number)));
  let fraction = Math.round((Math.abs(number) / 2 ** exponent - 1) * 1024);
  if (fraction === 1024) {
    fraction = 0;
    exponent++;
  }
  if (exponent < -14) return sign | Math.round(Math.abs(number) * 2 ** 24);
  return sign | ((exponent + 15) << 10) | fraction;
}

/** The number of a float16's bits. */
export function halfNumber(bits) {
  const exponent = (bits >> 10) & 31;
  const size =
    exponent === 0 ? (bits & 1023) * 2 ** -24 : (1024 + (bits & 1023)) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
}

const rounded = (number) => halfNumber(halfBits(number));

function wholeBits(number) {
  float[0] = number;
  // Rounded to the nearest, ties to even.
  return (word[0] + 0x7fff + ((word[0] >> 16) & 1)) >>> 16;
}

function bfloatNumber(bits) {
  word[0] = bits << 16;
  return float[0];
}

const range = (count) => Array.from({ length: count }, (_, i) => i);

// Blocks of 32 with a scale and, with `hasLeast`, a least number. Returns the numbers that the block stands for.
function simple(bits, hasLeast) {
  return (numbers, out) => {
    const top = 2 ** bits - 1;
    let scale;
    let least;
    let codes;
    if (hasLeast) {
      const low = Math.min(...numbers);
      scale = rounded((Math.max(...numbers) - low) / top);
      least = rounded(low);
      codes = numbers.map((one) => Math.min(top, Math.max(0, Math.round((one - least) / scale))));
    } else {
      const largest = numbers.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
      scale = rounded(largest / -(2 ** (bits - 1)));
      codes = numbers.map((one) =>
        Math.min(top, Math.max(0, Math.round(one / scale + 2 ** (bits - 1)))),
      );
    }
    out.number(2, "setUint16", halfBits(scale));
    if (hasLeast) out.number(2, "setUint16", halfBits(least));
    if (bits === 5) {
      out.u32(codes.reduce((all, code, i) => all + (code >> 4) * 2 ** i, 0));
    }
    out.put(Uint8Array.from(range(16), (i) => (codes[i] & 15) | ((codes[i + 16] & 15) << 4)));
    return codes.map((code) =>
      hasLeast ? code * scale + least : (code - 2 ** (bits - 1)) * scale,
    );
  };
}

function q8(numbers, out) {
  const scale = rounded(Math.max(...numbers.map(Math.abs)) / 127);
  const codes = numbers.map((one) => Math.max(-128, Math.min(127, Math.round(one / scale))));
  out.number(2, "setUint16", halfBits(scale));
  out.put(new Uint8Array(Int8Array.from(codes).buffer));
  return codes.map((code) => code * scale);
}

// Blocks of 256: eight groups of 32 with scales and least numbers of six bits.
function grouped(bits) {
  return (numbers, out) => {
    const top = 2 ** bits - 1;
    const groups = range(8).map((g) => numbers.slice(32 * g, 32 * g + 32));
    const lows = groups.map((one) => Math.max(0, -Math.min(...one)));
    const widths = groups.map((one, g) => (Math.max(...one) + lows[g]) / top);
    const scale = rounded(Math.max(...widths) / 63);
    const least = rounded(Math.max(...lows) / 63);
    const scales = widths.map((one) => Math.round(one / scale));
    const leasts = lows.map((one) => (least === 0 ? 0 : Math.round(one / least)));
    const codes = groups.map((one, g) =>
      one.map((number) => {
        const code = Math.round((number + least * leasts[g]) / (scale * scales[g] || 1));
        return Math.min(top, Math.max(0, code));
      }),
    );
    out.number(2, "setUint16", halfBits(scale));
    out.number(2, "setUint16", halfBits(least));
    const packed = new Uint8Array(12);
    for (let g = 0; g < 4; g++) {
      packed[g] = scales[g] | ((scales[g + 4] >> 4) << 6);
      packed[g + 4] = leasts[g] | ((leasts[g + 4] >> 4) << 6);
      packed[g + 8] = (scales[g + 4] & 15) | ((leasts[g + 4] & 15) << 4);
    }
    out.put(packed);
    if (bits === 5) {
      out.put(
        Uint8Array.from(range(32), (i) =>
          codes.reduce((all, own, g) => all | ((own[i] >> 4) << g), 0),
        ),
      );
    }
    for (let pair = 0; pair < 4; pair++) {
      const [low, high] = [codes[2 * pair], codes[2 * pair + 1]];
      out.put(Uint8Array.from(range(32), (i) => (low[i] & 15) | ((high[i] & 15) << 4)));
    }
    return codes.flatMap((own, g) =>
      own.map((code) => code * scale * scales[g] - least * leasts[g]),
    );
  };
}

// Blocks of 256: sixteen groups of 16 with scales of eight bits, numbers of six bits.
function q6(numbers, out) {
  const groups = range(16).map((g) => numbers.slice(16 * g, 16 * g + 16));
  const widths = groups.map((one) => Math.max(...one.map(Math.abs)) / 31);
  const scale = rounded(Math.max(...widths) / 127);
  const scales = widths.map((one, g) => Math.round(one / scale) * (g % 3 === 0 ? -1 : 1));
  const codes = groups.flatMap((one, g) =>
    one.map((number) =>
      Math.min(63, Math.max(0, Math.round(number / (scale * scales[g] || 1)) + 32)),
    ),
  );
  const lows = new Uint8Array(128);
  const highs = new Uint8Array(64);
  for (const whole of [0, 1]) {
    for (let i = 0; i < 32; i++) {
      const [a, b, c, d] = range(4).map((quarter) => codes[128 * whole + 32 * quarter + i]);
      lows[64 * whole + i] = (a & 15) | ((c & 15) << 4);
      lows[64 * whole + 32 + i] = (b & 15) | ((d & 15) << 4);
      highs[32 * whole + i] = (a >> 4) | ((b >> 4) << 2) | ((c >> 4) << 4) | ((d >> 4) << 6);
    }
  }
  out.put(lows);
  out.put(highs);
  out.put(new Uint8Array(Int8Array.from(scales).buffer));
  out.number(2, "setUint16", halfBits(scale));
  return codes.map((code, i) => scale * scales[Math.floor(i / 16)] * (code - 32));
}

const single = (size, method, bitsOf, numberOf) => (numbers, out) => {
  const bits = numbers.map(bitsOf);
  for (const one of bits) out.number(size, method, one);
  return bits.map(numberOf);
};

const kQuantizers = {
  F32: [1, single(4, "setFloat32", Math.fround, (one) => one)],
  F16: [1, single(2, "setUint16", halfBits, halfNumber)],
  BF16: [1, single(2, "setUint16", wholeBits, bfloatNumber)],
  Q4_0: [32, simple(4, false)],
  Q4_1: [32, simple(4, true)],
  Q5_0: [32, simple(5, false)],
  Q5_1: [32, simple(5, true)],
  Q8_0: [32, q8],
  Q4_K: [256, grouped(4)],
  Q5_K: [256, grouped(5)],
  Q6_K: [256, q6],
};

/** The types that are not single numbers. */
export const kBlockTypes = Object.keys(kQuantizers).filter((name) => kQuantizers[name][0] > 1);

/** Stores numbers: { type, shape, bytes, numbers }, where the last are those that the bytes stand for. */
export function stored(type, shape, numbers) {
  const [size, write] = kQuantizers[type];
  const out = new Bytes();
  const kept = [];
  for (let at = 0; at < numbers.length; at += size) {
    kept.push(...write(numbers.slice(at, at + size), out));
  }
  return { type, shape, bytes: out.whole(), numbers: kept };
}

/** Reads a file of F32 tensors and of plain metadata: { metadata, tensors: { name: { shape, values } } }. */
export function readGguf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 8;
  const after = (count) => {
    at += count;
    return at - count;
  };
  const u32 = () => view.getUint32(after(4), true);
  const u64 = () => Number(view.getBigUint64(after(8), true));
  const string = () => {
    const length = u64();
    at += length;
    return new TextDecoder().decode(bytes.subarray(at - length, at));
  };
  const [tensorCount, pairCount] = [u64(), u64()];
  const metadata = {};
  for (let i = 0; i < pairCount; i++) {
    const key = string();
    const type = u32();
    if (type === kValueTypes.string) metadata[key] = string();
    else if (type === kValueTypes.bool) metadata[key] = bytes[after(1)] !== 0;
    else if (type === kValueTypes.uint32) metadata[key] = u32();
    else metadata[key] = { type: "float32", value: view.getFloat32(after(4), true) };
  }
  const described = range(tensorCount).map(() => {
    const name = string();
    const shape = range(u32()).map(u64).reverse();
    if (u32() !== kTypes.F32) throw new Error(`${name} is not F32`);
    return { name, shape, start: u64() };
  });
  const base = Math.ceil(at / 32) * 32;
  const tensors = described.map(({ name, shape, start }) => {
    const count = shape.reduce((product, size) => product * size, 1);
    const from = base + start;
    return [name, { shape, values: new Float32Array(bytes.slice(from, from + 4 * count).buffer) }];
  });
  return { metadata, tensors: Object.fromEntries(tensors) };
}
