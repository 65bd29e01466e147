// The encoding of values in save(): JSON, with tagged objects, which have a key that begins with "$", for values that
// JSON lacks. A user's object with such a key is itself wrapped in a "$object".

import { isPlainObject } from "../arguments/read.js";
import { describe } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { reject } from "./broken_file.js";
import { joinedPath, refuseToStore } from "./storable.js";

/** The metadata key of the structure. */
export const kStructureKey = "edgegrad.structure";

/** The arrays that can be stored. */
export const kArrays = [
  Float32Array,
  Float64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  BigInt64Array,
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
  BigUint64Array,
] as const;

/** A typed array of numbers. */
export type NumberArray = InstanceType<(typeof kArrays)[number]>;

/** Stores tensors and arrays for save() and returns their names. */
export interface Writer {
  tensor(path: string, tensor: Tensor): string;
  array(path: string, array: NumberArray): string;
}

/** Returns tensors and arrays by name for load(). */
export interface Reader {
  tensor(name: string, requiresGrad: boolean): Tensor;
  array(name: string, type: string): NumberArray;
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

// The maximum nesting depth, which protects the stack.
const kMaxDepth = 500;

/** Encodes a value as JSON; throws InvalidArgument for a value that cannot be stored, with its path. */
export function encode(
  value: unknown,
  writer: Writer,
  path = "",
  outer: readonly object[] = [],
): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (value === undefined) return { $undefined: true };
  if (typeof value === "bigint") return { $bigint: String(value) };
  if (typeof value === "number") return isPlainNumber(value) ? value : { $number: nameOf(value) };
  if (value instanceof Tensor) {
    const name = writer.tensor(path, value);
    return value.requiresGrad ? { $tensor: name, requiresGrad: true } : { $tensor: name };
  }
  const Kind = kArrays.find((array) => value instanceof array);
  if (Kind !== undefined) {
    return { $array: writer.array(path, value as NumberArray), type: Kind.name };
  }
  if (!Array.isArray(value) && !isPlainObject(value)) refuse(path, value);
  if (outer.includes(value)) refuse(path, value, "It contains itself.");
  if (outer.length >= kMaxDepth)
    refuse(path, value, `It is nested deeper than ${kMaxDepth} levels.`);
  const inner = (item: unknown, key: string | number) => {
    return encode(item, writer, joinedPath(path, key), [...outer, value]);
  };
  // Unlike map(), this visits the holes of an array.
  if (Array.isArray(value)) return Array.from(value, inner);
  const object = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, inner(item, key)]),
  );
  const isTag = Object.keys(object).some((key) => key.startsWith("$"));
  return isTag ? { $object: object } : object;
}

/** Decodes the result of encode(); must be called inside reading(). */
export function decode(json: unknown, reader: Reader, depth = 0): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (depth > 2 * kMaxDepth) reject(`its structure is nested deeper than ${kMaxDepth} levels.`);
  const inner = (item: unknown) => decode(item, reader, depth + 1);
  if (Array.isArray(json)) return json.map(inner);
  const fields = json as Record<string, unknown>;
  const tag = Object.keys(fields).find((key) => key.startsWith("$"));
  const map = (object: object) => {
    return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, inner(item)]));
  };
  if (tag === undefined) return map(fields);
  const given = fields[tag];
  const text = typeof given === "string" ? given : "";
  if (tag === "$undefined") return undefined;
  if (tag === "$number" && kNumbers.has(text)) return kNumbers.get(text);
  if (tag === "$bigint" && /^-?\d+$/.test(text)) return BigInt(text);
  if (tag === "$tensor") return reader.tensor(text, fields.requiresGrad === true);
  if (tag === "$array")
    return reader.array(text, typeof fields.type === "string" ? fields.type : "");
  if (tag === "$object" && isPlainObject(given)) return map(given);
  return reject(`its structure has ${tag}: ${describe(given)}, which is not valid.`);
}

const kNumbers: ReadonlyMap<string, number> = /* @__PURE__ */ new Map([
  ["NaN", Number.NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
  ["-0", -0],
]);

function isPlainNumber(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0);
}

function nameOf(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

const kStorable =
  "Tensors, numbers, bigints, strings, booleans, null, typed arrays, and plain objects and arrays of them can be stored.";

function refuse(path: string, value: unknown, why = kStorable): never {
  refuseToStore("save", path, value, why);
}
