// Small ONNX models for tests, written in protobuf's wire format.

const kText = new TextEncoder();

function varint(value) {
  const bytes = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return [...bytes, Number(left)];
}

/** Returns a field: an integer, a text, bytes, or an array of the bytes of a message. */
export function field(number, value) {
  if (value === undefined) return [];
  if (typeof value === "number" || typeof value === "bigint") {
    return [...varint(number << 3), ...varint(value)];
  }
  const bytes = typeof value === "string" ? kText.encode(value) : value;
  return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes];
}

/** Returns a field of 32 bits. */
export function floatField(number, value) {
  return [...varint((number << 3) | 5), ...new Uint8Array(new Float32Array([value]).buffer)];
}

const kArrays = {
  1: Float32Array,
  2: Uint8Array,
  3: Int8Array,
  6: Int32Array,
  7: BigInt64Array,
  9: Uint8Array,
};

/** Returns a TensorProto. */
export function tensorProto(name, shape, data, type = 1) {
  const array = kArrays[type].from(data, type === 7 ? BigInt : Number);
  return [
    ...shape.flatMap((size) => field(1, size)),
    ...field(2, type),
    ...field(8, name),
    ...field(9, new Uint8Array(array.buffer)),
  ];
}

/** Returns a ValueInfoProto; sizes that are texts are symbolic. */
export function valueInfo(name, shape, type = 1) {
  const dims = shape?.flatMap((size) =>
    field(1, typeof size === "string" ? field(2, size) : field(1, size)),
  );
  const tensorType = [...field(1, type), ...(dims === undefined ? [] : field(2, dims))];
  return [...field(1, name), ...field(2, field(1, tensorType))];
}

/** Returns an AttributeProto of a value: a number, a text, a list of numbers, { float }, { floats }, { strings }, { tensor } or { graph }. */
export function attribute(name, value) {
  const content = () => {
    if (typeof value === "number") return [...field(3, value), ...field(20, 2)];
    if (typeof value === "string") return [...field(4, value), ...field(20, 3)];
    if (Array.isArray(value)) return [...value.flatMap((one) => field(8, one)), ...field(20, 7)];
    if (value.tensor) return [...field(5, value.tensor), ...field(20, 4)];
    if (value.graph) return [...field(6, value.graph), ...field(20, 5)];
    if (value.ref) return field(21, value.ref);
    if (value.floats)
      return [...value.floats.flatMap((one) => floatField(7, one)), ...field(20, 6)];
    if (value.strings) return [...value.strings.flatMap((one) => field(9, one)), ...field(20, 8)];
    return [...floatField(2, value.float), ...field(20, 1)];
  };
  return [...field(1, name), ...content()];
}

/** Returns a NodeProto. */
export function node(opType, inputs, outputs, attributes = {}, { domain, name } = {}) {
  return [
    ...inputs.flatMap((one) => field(1, one)),
    ...outputs.flatMap((one) => field(2, one)),
    ...field(3, name),
    ...field(4, opType),
    ...Object.entries(attributes).flatMap(([key, value]) => field(5, attribute(key, value))),
    ...field(7, domain),
  ];
}

/** Returns a GraphProto. */
export function graph({ nodes, inputs = [], outputs = [], initializers = [] }) {
  return [
    ...nodes.flatMap((one) => field(1, one)),
    ...field(2, "g"),
    ...initializers.flatMap((one) => field(5, one)),
    ...inputs.flatMap((one) => field(11, one)),
    ...outputs.flatMap((one) => field(12, one)),
  ];
}

/** Returns a FunctionProto of the domain "own". */
export function functionProto(name, { inputs, outputs, nodes, attributes = [], opset = 17 }) {
  return [
    ...field(1, name),
    ...inputs.flatMap((one) => field(4, one)),
    ...outputs.flatMap((one) => field(5, one)),
    ...attributes.flatMap((one) => field(6, one)),
    ...nodes.flatMap((one) => field(7, one)),
    ...field(9, field(2, opset)),
    ...field(9, [...field(1, "own"), ...field(2, 1)]),
    ...field(10, "own"),
  ];
}

/** Returns the bytes of a model. */
export function model({ opset = 17, domains = {}, functions = [], metadata = {}, ...parts }) {
  return Uint8Array.from([
    ...field(1, 8),
    ...field(2, "test"),
    ...field(7, graph(parts)),
    ...field(8, field(2, opset)),
    ...Object.entries(domains).flatMap(([name, version]) =>
      field(8, [...field(1, name), ...field(2, version)]),
    ),
    ...Object.entries(metadata).flatMap(([key, value]) =>
      field(14, [...field(1, key), ...field(2, value)]),
    ),
    ...functions.flatMap((one) => field(25, one)),
  ]);
}
