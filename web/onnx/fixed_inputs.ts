// Inputs that load() fixes: they become tensors of the file, so that ops which depend on nothing else are computed once.

import { Tensor } from "edgegrad";
import { describe, fail } from "../errors/errors.js";
import { halfBits, upperBits } from "./export/half.js";
import { graphValue } from "./interface.js";
import { emptyMessage } from "./proto/read.js";
import type { Message } from "./proto/schema.js";
import { kTypes, type TypeName } from "./proto/types.js";
import { kMostHostElements } from "./values/host.js";
import { isInteger } from "./values/types.js";

/** The value of an input that `load()` fixes: a number, a text, a list of these, or a small tensor. */
export type FixedInput =
  | number
  | bigint
  | boolean
  | string
  | readonly (number | bigint | boolean | string)[]
  | Tensor;

const kWhere = "onnx.load";

/** Returns a model in which some inputs are stored tensors. */
export function withFixedInputs(
  model: Message<"Model">,
  inputs: Readonly<Record<string, FixedInput>>,
): Message<"Model"> {
  const { graph } = model;
  if (graph === undefined || Object.keys(inputs).length === 0) return model;
  const fixed = Object.entries(inputs).map(([name, value]) => {
    const declared = graph.input.find((input) => input.name === name);
    if (declared === undefined) {
      const names = graph.input.map((input) => `"${input.name}"`).join(", ");
      return fail("InvalidArgument", kWhere, `inputs: there is no input "${name}", only ${names}.`);
    }
    return tensorOf(graphValue(declared, false), value);
  });
  const names = new Set(fixed.map(({ name }) => name));
  return {
    ...model,
    graph: {
      ...graph,
      input: graph.input.filter(({ name }) => !names.has(name)),
      initializer: [...graph.initializer.filter(({ name }) => !names.has(name)), ...fixed],
    },
  };
}

function tensorOf(
  { name = "", type, shape, hasShape, kind }: ReturnType<typeof graphValue>,
  value: FixedInput,
): Message<"Tensor"> {
  const isOne = !(value instanceof Tensor) && !Array.isArray(value);
  const items = value instanceof Tensor ? [...value.detach().flatten().dataSync()] : [value].flat();
  const isText = type === "string";
  const areFitting = items.every((item) => isElement(item, type));
  if (kind !== "tensor" || !areFitting || items.length > kMostHostElements) {
    const wanted = `${isText ? "texts" : "numbers"} or a tensor, at most ${kMostHostElements} elements`;
    fail(
      "InvalidArgument",
      kWhere,
      `inputs: expected ${wanted} for "${name}", got ${describe(value)}.`,
    );
  }
  // One number for an input with axes fills it if its size is one.
  const own = value instanceof Tensor ? value.shape : isOne ? [] : [items.length];
  const dims = hasShape && isOne ? shape.map(() => 1) : own;
  const fits =
    !hasShape ||
    (shape.length === dims.length &&
      shape.every((size, i) => typeof size !== "number" || size === dims[i]));
  if (!fits) {
    const wanted = shape.map((size) => size ?? "?").join(", ");
    fail(
      "ShapeMismatch",
      kWhere,
      `inputs: "${name}" has the shape [${wanted}], got [${dims.join(", ")}].`,
    );
  }
  const data = isText
    ? { stringData: items.map((item) => new TextEncoder().encode(String(item))) }
    : dataOf(type, items as (number | bigint | boolean)[]);
  return {
    ...(emptyMessage("Tensor") as Message<"Tensor">),
    name,
    dims,
    dataType: kTypes[type],
    ...data,
  };
}

function isElement(value: unknown, type: TypeName): boolean {
  if (type === "string") return typeof value === "string";
  if (typeof value !== "number") return typeof value === "bigint" || typeof value === "boolean";
  return !isInteger(type) || Number.isSafeInteger(value);
}

type Numbers = readonly (number | bigint | boolean)[];

// The field of a tensor that has elements of a type.
function dataOf(type: TypeName, items: Numbers): Partial<Message<"Tensor">> {
  const numbers = items.map(Number);
  const whole = () => BigInt64Array.from(items, (item) => BigInt(item));
  switch (type) {
    case "float":
      return { floatData: Float32Array.from(numbers) };
    case "double":
      return { doubleData: Float64Array.from(numbers) };
    case "int64":
      return { int64Data: whole() };
    case "uint32":
    case "uint64":
      return { uint64Data: whole() };
    case "float16":
      return { int32Data: Int32Array.from(halfBits(Float32Array.from(numbers))) };
    case "bfloat16":
      return { int32Data: Int32Array.from(upperBits(Float32Array.from(numbers))) };
    default:
      return { int32Data: Int32Array.from(numbers) };
  }
}
