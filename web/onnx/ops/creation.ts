// New tensors: constants, ranges, random numbers and casts.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { TypeName } from "../proto/types.js";
import { chained } from "../values/chained.js";
import { Host, isTexts, kMostHostElements } from "../values/host.js";
import { combine, roundTo, sizeOf } from "../values/host_math.js";
import { dtypeOf, isInteger, markAs, typeNumbered, typeOf, wrapAround } from "../values/types.js";
import {
  currentDevice,
  elementType,
  intsOf,
  number,
  presentDType,
  shapeOf,
  tensor,
  type Value,
} from "../values/value.js";
import { range } from "./axes.js";
import {
  flag,
  float,
  int,
  maybeFloat,
  maybeFloats,
  maybeInt,
  maybeInts,
  maybeStrings,
  maybeTensor,
  type Ops,
  op,
  string,
} from "./op.js";
import { roundedToPower, roundedToSmall } from "./small_casts.js";

/** Returns the type whose number an attribute has. */
export function typeAttribute(value: number | undefined, missing: TypeName = "float"): TypeName {
  if (value === undefined) return missing;
  return (
    typeNumbered(value) ?? fail("InvalidArgument", "OnnxModule", `${value} is not an element type.`)
  );
}

/** Casts a value to another element type: integers wrap around, and numbers become strings as C prints them. */
export function cast(value: Value, type: TypeName, saturate = true, roundMode = "up"): Value {
  if (isTexts(value)) {
    return type === "string" ? value : parse(value, type);
  }
  if (type === "string") return print(value);
  const x = tensor(value);
  const dtype = presentDType(type);
  if (dtype !== dtypeOf(type)) return x.dtype === dtype ? x : x.to(dtype);
  if (typeOf(x) === type) return x;
  // A new tensor, because its ONNX type is recorded per tensor.
  if (type === "float8e8m0") return markAs(roundedToPower(x, roundMode, saturate), type);
  if (/float[48]/.test(type)) return markAs(roundedToSmall(x, type, saturate).to("float16"), type);
  if (type === "bool") return markAs(x.ne(0), type);
  const kept = chained(
    x,
    (y) => (isInteger(type) && y.dtype !== dtype ? y.to("int64") : y),
    (y) => y.to(dtype),
    (y) => wrapAround(y, type),
  );
  return markAs(kept === x ? x.reshape(x.shape) : kept, type);
}

const kRounding = { saturate: flag(true), round_mode: string("up") };

function parse(texts: Host<string>, type: TypeName): Value {
  const numbers = texts.data.map((text) => roundTo(numberIn(text.trim()), type));
  return cast(tensor(new Host("double", texts.shape, numbers)), type);
}

function numberIn(text: string): number {
  const special = /^([+-]?)inf(inity)?$/i.exec(text);
  return special === null ? Number(text) : special[1] === "-" ? -Infinity : Infinity;
}

function print(value: Value): Host<string> {
  const x = tensor(value);
  const wide = x.dtype === "float16" || x.dtype === "bfloat16" ? x.to("float32") : x;
  const digits = x.dtype === "float64" ? 17 : 8;
  const data = Array.from<number | bigint, string>(wide.detach().dataSync(), (value) =>
    printNumber(value, digits),
  );
  return new Host("string", x.shape, data);
}

function printNumber(value: number | bigint, digits: number): string {
  if (typeof value === "bigint" || Number.isInteger(value)) return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "INF" : "-INF";
  const exact = digits > 8 ? String(value) : shortest(value, digits);
  return exact;
}

// The fewest digits that identify a float32.
function shortest(value: number, most: number): string {
  for (let digits = 1; digits < most; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return String(text);
  }
  return String(Number(value.toPrecision(most)));
}

const kValues = {
  value: maybeTensor,
  value_float: maybeFloat,
  value_floats: maybeFloats,
  value_int: maybeInt,
  value_ints: maybeInts,
  value_string: string("\0"),
  value_strings: maybeStrings,
};

const constant = op({
  attributes: kValues,
  run: () => fail("InvalidArgument", "OnnxModule", "a Constant has no value."),
  constant: (given) => {
    if (given.value !== undefined) return given.value;
    if (given.value_float !== undefined) return new Host("float", [], [given.value_float]);
    if (given.value_int !== undefined) return new Host("int64", [], [given.value_int]);
    if (given.value_string !== "\0") return new Host("string", [], [given.value_string]);
    const lists = [
      ["float", given.value_floats],
      ["int64", given.value_ints],
      ["string", given.value_strings],
    ] as const;
    const found = lists.find(([, list]) => list !== undefined);
    const data: readonly (number | string)[] = found?.[1] ?? [];
    return found && new Host(found[0], [data.length], data);
  },
});

const constantOfShape = op({
  since: 9,
  attributes: { value: maybeTensor },
  settings: [0],
  run: ([shape], { value }) => {
    const filling = value === undefined ? new Host("float", [1], [0]) : value;
    const type = elementType(filling);
    const dtype = presentDType(type);
    const options = { dtype, device: currentDevice() };
    const result = eg.full(intsOf(shape, "input"), number(filling) ?? 0, options);
    return dtype === dtypeOf(type) ? markAs(result, type) : result;
  },
  host: ([shape], { value }) => {
    const type = value === undefined ? "float" : elementType(value);
    const count = sizeOf(shape?.data ?? []);
    if (count > kMostHostElements || !(isInteger(type) || type === "bool") || shape === undefined)
      return undefined;
    return new Host(type, shape.data, new Array(count).fill(number(value) ?? 0));
  },
});

const rangeOp = op({
  since: 11,
  settings: [0, 1, 2],
  run: ([start, limit, delta]) => {
    const type = elementType(start);
    const count = countOf(number(start) ?? 0, number(limit) ?? 0, number(delta) ?? 1);
    const steps = eg.arange(count, { dtype: "float64", device: currentDevice() });
    const values = steps.mul(number(delta) ?? 1).add(number(start) ?? 0);
    return cast(values, type);
  },
  host: ([start, limit, delta]) => {
    const [from = 0, to = 0, by = 1] = [start?.data[0], limit?.data[0], delta?.data[0]];
    const count = countOf(from, to, by);
    if (start === undefined || count > kMostHostElements) return undefined;
    return new Host(
      start.type,
      [count],
      range(count).map((i) => roundTo(from + i * by, start.type)),
    );
  },
});

function countOf(start: number, limit: number, delta: number): number {
  const count = Math.max(Math.ceil((limit - start) / delta), 0);
  return Number.isFinite(count)
    ? count
    : fail("InvalidArgument", "OnnxModule", "a Range has no end.");
}

const kRandom = { dtype: maybeInt, seed: maybeFloat };
const kNormal = { ...kRandom, mean: float(0), scale: float(1) };
const kUniform = { ...kRandom, low: float(0), high: float(1) };

// Numbers come from edgegrad's generator, unless the graph has a seed, with which every run draws the same ones.
function draw(shape: readonly number[], seed: number | undefined, isNormal: boolean): eg.Tensor {
  const options = {
    device: currentDevice(),
    ...(seed === undefined ? {} : { generator: new eg.Generator(Math.abs(Math.trunc(seed))) }),
  };
  return isNormal ? eg.randn([...shape], options) : eg.rand([...shape], options);
}

function normal(
  shape: readonly number[],
  type: TypeName,
  { seed, mean, scale }: { seed: number | undefined; mean: number; scale: number },
): Value {
  return cast(draw(shape, seed, true).mul(scale).add(mean), type);
}

function uniform(
  shape: readonly number[],
  type: TypeName,
  { seed, low, high }: { seed: number | undefined; low: number; high: number },
): Value {
  return cast(
    draw(shape, seed, false)
      .mul(high - low)
      .add(low),
    type,
  );
}

export const kCreation: Ops = {
  Constant: constant,
  ConstantOfShape: constantOfShape,
  Range: rangeOp,
  Cast: op({
    attributes: { to: maybeInt, ...kRounding },
    ownTypes: true,
    run: ([x], { to, saturate, round_mode }) => cast(x, typeAttribute(to), saturate, round_mode),
    host: ([x], { to }) => {
      const type = typeAttribute(to);
      return x && type !== "string" && !/float[148]/.test(type)
        ? combine([x], (value) => value as number, type)
        : undefined;
    },
  }),
  CastLike: op({
    since: 15,
    attributes: kRounding,
    ownTypes: true,
    run: ([x, like], { saturate, round_mode }) => cast(x, elementType(like), saturate, round_mode),
  }),
  EyeLike: op({
    since: 9,
    attributes: { dtype: maybeInt, k: int(0) },
    ownTypes: true,
    run: ([x], { dtype, k }) => {
      const [rows = 0, columns = 0] = shapeOf(x);
      const options = { dtype: "int32", device: currentDevice() } as const;
      const row = eg.arange(rows, options).reshape([-1, 1]);
      return cast(row.add(k).eq(eg.arange(columns, options)), typeAttribute(dtype, elementType(x)));
    },
  }),
  RandomNormal: op({
    attributes: { ...kNormal, shape: maybeInts },
    run: (_, given) => normal(given.shape ?? [], typeAttribute(given.dtype), given),
  }),
  RandomNormalLike: op({
    attributes: kNormal,
    ownTypes: true,
    run: ([x], given) => normal(shapeOf(x), typeAttribute(given.dtype, elementType(x)), given),
  }),
  RandomUniform: op({
    attributes: { ...kUniform, shape: maybeInts },
    run: (_, given) => uniform(given.shape ?? [], typeAttribute(given.dtype), given),
  }),
  RandomUniformLike: op({
    attributes: kUniform,
    ownTypes: true,
    run: ([x], given) => uniform(shapeOf(x), typeAttribute(given.dtype, elementType(x)), given),
  }),
  Bernoulli: op({
    since: 15,
    attributes: kRandom,
    ownTypes: true,
    run: ([x], { dtype, seed }) => {
      const isDrawn = draw(shapeOf(x), seed, false).lt(tensor(x));
      return cast(isDrawn, typeAttribute(dtype, elementType(x)));
    },
  }),
  Multinomial: op({
    attributes: { ...kRandom, sample_size: int(1) },
    ownTypes: true,
    run: ([x], { dtype, sample_size }) => {
      const chances = eg.softmax(tensor(x), -1);
      return cast(eg.multinomial(chances, sample_size, true), typeAttribute(dtype, "int32"));
    },
  }),
};
