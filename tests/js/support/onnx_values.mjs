// The tensors, sequences and optionals in the .pb files of ONNX's own tests, read without the code under test.

const kVarint = 0;
const kFixed64 = 1;
const kBytes = 2;

/** Returns the fields of a message in protobuf's wire format: lists of numbers, bigints or bytes by field number. */
export function fieldsIn(bytes) {
  const fields = new Map();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    let value;
    if (wire === kVarint) value = varint();
    else if (wire === kBytes) {
      const length = Number(varint());
      value = bytes.subarray(at, at + length);
      at += length;
    } else {
      value = view.buffer.slice(
        view.byteOffset + at,
        view.byteOffset + at + (wire === kFixed64 ? 8 : 4),
      );
      at += wire === kFixed64 ? 8 : 4;
    }
    const number = tag >>> 3;
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

// A repeated number, each in a field of its own or all in one.
function integers(fields, number) {
  return (fields.get(number) ?? []).flatMap((value) => {
    if (typeof value === "bigint") return [BigInt.asIntN(64, value)];
    const all = [];
    let at = 0;
    while (at < value.length) {
      let one = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = value[at++];
        one |= BigInt(byte & 127) << shift;
        if (byte < 128) break;
      }
      all.push(BigInt.asIntN(64, one));
    }
    return all;
  });
}

const kNames = {
  1: "float",
  2: "uint8",
  3: "int8",
  4: "uint16",
  5: "int16",
  6: "int32",
  7: "int64",
  8: "string",
  9: "bool",
  10: "float16",
  11: "double",
  12: "uint32",
  13: "uint64",
  14: "complex64",
  15: "complex128",
  16: "bfloat16",
};

const kArrays = {
  float: Float32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  float16: Uint16Array,
  double: Float64Array,
  uint32: Uint32Array,
  uint64: BigInt64Array,
  bfloat16: Uint16Array,
};

function halfFloat(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, (bits & 1023) / 1024];
  const sign = bits >> 15 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -14;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction) * 2 ** (exponent - 15);
}

/** Returns the bfloat16 with these bits. */
export const upperHalf = (bits) => new Float32Array(new Uint32Array([bits << 16]).buffer)[0];

/** Returns a TensorProto as { type, shape, data }; data are numbers, bigints or texts. */
export function tensorIn(bytes) {
  const fields = fieldsIn(bytes);
  const type = kNames[Number(fields.get(2)?.at(-1) ?? 0n)];
  const shape = integers(fields, 1).map(Number);
  if (type === "string") {
    return { type, shape, data: (fields.get(6) ?? []).map((one) => new TextDecoder().decode(one)) };
  }
  const raw = fields.get(9)?.at(-1);
  const data =
    raw === undefined ? listed(fields, type) : [...new kArrays[type](raw.slice().buffer)];
  if (type === "float16") return { type, shape, data: data.map(halfFloat) };
  return { type, shape, data: type === "bfloat16" ? data.map(upperHalf) : data };
}

function listed(fields, type) {
  const floats = (number, Kind) =>
    (fields.get(number) ?? []).flatMap((value) => [
      ...new Kind(value instanceof ArrayBuffer ? value : value.slice().buffer),
    ]);
  if (type === "float") return floats(4, Float32Array);
  if (type === "double") return floats(10, Float64Array);
  if (type === "int64") return integers(fields, 7);
  if (type === "uint64") return integers(fields, 11);
  return integers(fields, type === "uint32" ? 11 : 5).map(Number);
}

/** Returns the tensors of a SequenceProto. */
export function sequenceIn(bytes) {
  const fields = fieldsIn(bytes);
  return [
    ...(fields.get(3) ?? []).map(tensorIn),
    ...(fields.get(5) ?? []).map(sequenceIn),
    ...(fields.get(7) ?? []).map(optionalIn),
  ];
}

/** Returns the tensor or sequence of an OptionalProto, or null. */
export function optionalIn(bytes) {
  const fields = fieldsIn(bytes);
  if (fields.has(3)) return tensorIn(fields.get(3)[0]);
  return fields.has(5) ? sequenceIn(fields.get(5)[0]) : null;
}
