// The inputs and outputs of a graph: their declarations, and the conversion of users' values to and from values of the graph.

import * as eg from "edgegrad";
import { fail } from "../errors/errors.js";
import type { Message } from "./proto/schema.js";
import type { TypeName } from "./proto/types.js";
import { Host } from "./values/host.js";
import { dtypeOf, markAs, typeNumbered, typeOf } from "./values/types.js";
import { tensor, type Value } from "./values/value.js";

/** An output: a tensor, strings, null for an optional without a value, a map of numbers by labels, or a list of these. */
export type OnnxResult =
  | eg.Tensor
  | string
  | null
  | ReadonlyMap<string | number, number>
  | readonly OnnxResult[];

/** An input or output of a graph. */
export interface GraphValue {
  /** Its name. */
  readonly name: string;
  /** The dtype of its tensors; "string" for strings. */
  readonly dtype: eg.DType | "string";
  /** The sizes: a number if it is fixed, a name that equal sizes share, null for any size. */
  readonly shape: readonly (number | string | null)[];
  /** Whether the file declares the shape; if not, `shape` is empty. */
  readonly hasShape: boolean;
  /** The kind of value. */
  readonly kind: "tensor" | "sequence" | "optional";
  /** The element type in the file. */
  readonly type: TypeName;
  /** Whether a call may omit it. */
  readonly isOptional: boolean;
}

const kWhere = "OnnxModule";

/** Returns the description of a graph's input or output. */
export function graphValue(message: Message<"ValueInfo">, hasDefault: boolean): GraphValue {
  const outer = message.type;
  const isOptional = outer?.optionalType !== undefined;
  const kind = isOptional ? "optional" : outer?.sequenceType ? "sequence" : "tensor";
  let inner = outer;
  for (let i = 0; i < 4 && inner !== undefined && inner.tensorType === undefined; i++) {
    inner = (inner.optionalType ?? inner.sequenceType)?.elemType;
  }
  const type = typeNumbered(inner?.tensorType?.elemType) ?? "float";
  const shape = inner?.tensorType?.shape?.dim.map(({ dimValue, dimParam }) =>
    // Exporters write -1 and 0 for sizes that they do not know.
    Number(dimValue ?? 0) > 0 ? Number(dimValue) : dimParam || null,
  );
  const hasShape = kind === "tensor" && shape !== undefined;
  return {
    name: message.name ?? "",
    dtype: dtypeOf(type) ?? "string",
    shape: hasShape ? shape : [],
    hasShape,
    kind,
    type,
    isOptional: isOptional || hasDefault,
  };
}

/** Returns a user's value for an input as a value of the graph. `sizes` has the named sizes that other inputs have fixed. */
export function fedValue(input: GraphValue, given: unknown, sizes: Map<string, number>): Value {
  if (given === undefined || given === null) {
    if (!input.isOptional) fail("InvalidArgument", kWhere, `the input "${input.name}" is missing.`);
    return input.kind === "optional" ? null : undefined;
  }
  if (Array.isArray(given) && input.kind !== "tensor") {
    return given.map((name) =>
      name === null ? null : fedTensor({ ...input, hasShape: false }, name, sizes),
    );
  }
  return fedTensor(input, given, sizes);
}

function fedTensor(input: GraphValue, given: unknown, sizes: Map<string, number>): Value {
  const { name, type, dtype } = input;
  if (dtype === "string") return textsOf(name, given);
  if (!(given instanceof eg.Tensor)) {
    const what = input.kind === "sequence" ? "an array of tensors" : "a tensor";
    return fail("InvalidArgument", kWhere, `expected ${what} as the input "${name}".`);
  }
  const isClose = isFloat(dtype) && isFloat(given.dtype);
  if (given.dtype !== dtype && !isClose) {
    const advice = `use x.to("${dtype}")`;
    fail(
      "DtypeMismatch",
      kWhere,
      `the input "${name}" is ${dtype}, got ${given.dtype}: ${advice}.`,
    );
  }
  checkShape(input, given.shape, sizes);
  if (given.dtype !== dtype || typeOf(given) === type) return given;
  return markAs(given.reshape(given.shape), type);
}

const isFloat = (dtype: string) => dtype.includes("float");

function checkShape(
  { name, shape, hasShape }: GraphValue,
  given: readonly number[],
  sizes: Map<string, number>,
): void {
  if (!hasShape) return;
  const fits =
    shape.length === given.length &&
    shape.every((size, i) => isFitting(size, given[i] as number, sizes));
  if (fits) return;
  const wanted = shape.map((size) => size ?? "?").join(", ");
  fail(
    "ShapeMismatch",
    kWhere,
    `the input "${name}" has the shape [${wanted}], got [${given.join(", ")}].`,
  );
}

function isFitting(
  size: number | string | null,
  given: number,
  sizes: Map<string, number>,
): boolean {
  if (size === null || size === given) return true;
  if (typeof size === "number") return false;
  const known = sizes.get(size) ?? given;
  sizes.set(size, known);
  return known === given;
}

// Strings are given as a string or as nested arrays of strings.
function textsOf(name: string, given: unknown): Host<string> {
  const shape: number[] = [];
  let level = given;
  while (Array.isArray(level) && shape.length < 64) {
    shape.push(level.length);
    level = level[0];
  }
  const data = Array.isArray(given) ? (given.flat(64) as unknown[]) : [given];
  const count = shape.reduce((product, size) => product * size, 1);
  if (data.length === count && data.every((value) => typeof value === "string")) {
    return new Host("string", shape, data as string[]);
  }
  return fail(
    "InvalidArgument",
    kWhere,
    `expected strings in nested arrays as the input "${name}".`,
  );
}

/** Returns a value of the graph in the form that users get. */
export function resultOf(value: Value, output: GraphValue): OnnxResult {
  if (value === undefined) {
    return fail("InvalidArgument", kWhere, `the output "${output.name}" was not computed.`);
  }
  if (value === null || value instanceof Map) return value;
  if (Array.isArray(value)) return value.map((item: Value) => resultOf(item, output));
  if (value instanceof Host && value.type === "string") {
    return nest(value.data as readonly string[], value.shape);
  }
  const result = tensor(value);
  const dtype = dtypeOf(typeOf(result));
  // Integers that need a gradient were carried as floats up to here.
  return dtype === null || dtype === result.dtype
    ? result
    : markAs(result.to(dtype), typeOf(result));
}

function nest(data: readonly string[], shape: readonly number[]): OnnxResult {
  const [size, ...rest] = shape;
  if (size === undefined) return data[0] ?? "";
  const step = data.length / Math.max(size, 1);
  return Array.from({ length: size }, (_, i) => nest(data.slice(i * step, (i + 1) * step), rest));
}
