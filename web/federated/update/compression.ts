// Compressed differences: elements of fewer bytes, and only the largest ones. The error is added to the next update (error feedback), so
// that the sum of what was sent stays close to the sum of the differences.

import * as eg from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { numberFrom, readOptions } from "../../nats/options.js";
import { isFloating, type State, type StateSpec, type TensorSpec } from "./state.js";

/** How differences are compressed. */
export interface Compression {
  /** The dtype of the elements; "int8" has a scale per tensor. Default "float16". */
  readonly dtype?: "float32" | "float16" | "int8" | undefined;
  /** The fraction of each tensor's elements that is sent, those of largest absolute value; default 1. */
  readonly topK?: number | undefined;
}

/** A compression with its defaults. */
export type ReadCompression = Required<{
  [Key in keyof Compression]: NonNullable<Compression[Key]>;
}>;

const kDTypes = ["float32", "float16", "int8"] as const;
const kInt8Most = 127;
// Bytes 1 to 255 represent -127 to 127, so that zero is exact.
const kInt8Zero = 128;

/** Checks the option `compression`. */
export function readCompression(where: string, given: unknown): ReadCompression | undefined {
  if (given === undefined) return undefined;
  const { dtype = "float16", topK = 1 } = readOptions(where, ["dtype", "topK"], given);
  if (!kDTypes.some((type) => type === dtype)) {
    refuse(where, "compression.dtype", kDTypes.map((type) => `"${type}"`).join(" or "), dtype);
  }
  const share = numberFrom(where, "compression.topK", topK, { above: 0, most: 1 });
  return { dtype: dtype as ReadCompression["dtype"], topK: share };
}

/** Returns the names, dtypes and shapes of the tensors that a compressed difference consists of. */
export function compressedSpec(spec: StateSpec, compression: ReadCompression): StateSpec {
  const { dtype, topK } = compression;
  const entries = new Map<string, TensorSpec>();
  for (const [key, tensor] of spec) {
    if (!isFloating(tensor.dtype)) {
      entries.set(`value:${key}`, {
        ...tensor,
        dtype: tensor.dtype === "bool" ? "int32" : tensor.dtype,
      });
      continue;
    }
    const shape = topK < 1 ? [countOf(tensor.shape, topK)] : tensor.shape;
    if (topK < 1) entries.set(`index:${key}`, { dtype: "int32", shape });
    if (dtype === "int8") entries.set(`scale:${key}`, { dtype: "float32", shape: [] });
    entries.set(`value:${key}`, { dtype: dtype === "int8" ? "uint8" : dtype, shape });
  }
  return entries;
}

/** Returns the compressed tensors of a difference. */
export function compress(difference: Readonly<State>, compression: ReadCompression): State {
  const tensors = Object.entries(difference).flatMap(([key, tensor]): [string, eg.Tensor][] => {
    if (!isFloating(tensor.dtype)) return [[`value:${key}`, tensor]];
    const flat = tensor.to("float32").reshape([-1]);
    if (compression.topK === 1) return elements(key, flat.reshape([...tensor.shape]), compression);
    const count = countOf(tensor.shape, compression.topK);
    const [index] = eg.topk(flat.abs(), count)[1].sort();
    return [
      [`index:${key}`, index.to("int32")],
      ...elements(key, flat.indexSelect(0, index), compression),
    ];
  });
  return Object.fromEntries(tensors);
}

function elements(
  key: string,
  values: eg.Tensor,
  { dtype }: ReadCompression,
): [string, eg.Tensor][] {
  if (dtype !== "int8") return [[`value:${key}`, values.to(dtype)]];
  const most = values.numel === 0 ? 0 : (values.abs().max().item() as number);
  const scale = eg.tensor(most === 0 ? 1 : most / kInt8Most);
  const steps = values.div(scale).round().clamp(-kInt8Most, kInt8Most).add(kInt8Zero);
  return [
    [`scale:${key}`, scale],
    [`value:${key}`, steps.to("uint8")],
  ];
}

/**
 * Decompresses tensors of compressedSpec() to a float32 difference; returns null if the positions of elements are not strictly ascending
 * or not inside the tensor.
 */
export function expand(tensors: Readonly<State>, spec: StateSpec): State | null {
  const entries: [string, eg.Tensor][] = [];
  for (const [key, { dtype, shape }] of spec) {
    const value = tensors[`value:${key}`] as eg.Tensor;
    if (!isFloating(dtype)) {
      entries.push([key, value]);
      continue;
    }
    const scale = tensors[`scale:${key}`];
    const numbers = value.to("float32");
    const values = scale === undefined ? numbers : numbers.sub(kInt8Zero).mul(scale);
    const index = tensors[`index:${key}`];
    if (index === undefined) {
      entries.push([key, values]);
      continue;
    }
    const count = shape.reduce((product, size) => product * size, 1);
    if (!areAscending(index.dataSync() as Int32Array, count)) return null;
    const flat = eg.zeros([count]).indexCopy(0, index.to("int64"), values);
    entries.push([key, flat.reshape([...shape])]);
  }
  return Object.fromEntries(entries);
}

function areAscending(positions: Int32Array, below: number): boolean {
  let last = -1;
  for (const position of positions) {
    if (position <= last || position >= below) return false;
    last = position;
  }
  return true;
}

function countOf(shape: readonly number[], share: number): number {
  const count = shape.reduce((product, size) => product * size, 1);
  return Math.min(count, Math.max(1, Math.round(count * share)));
}
