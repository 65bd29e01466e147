// How a tool stores the matrices that it has quantized.

import type * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import type { CodeFormat, CodeRows } from "../../blocks/code_format.js";
import type { Config } from "../../config/config.js";
import type { WeightFile } from "../weight_file.js";

/** Codes whose columns may be in another order. */
export interface OrderedRows extends CodeRows {
  /** The column of the weight that each column of the codes is; null if they are the same. */
  readonly order: readonly number[] | null;
}

/** A matrix that a file has in parts. */
export interface PackedMatrix {
  /** The tensors of the file that it consists of. */
  readonly parts: readonly string[];
  readonly format: CodeFormat;
  sizes(): Promise<{ readonly rows: number; readonly columns: number; readonly dtype: eg.DType }>;
  codes(): Promise<OrderedRows>;
  /** Returns the numbers, row by row, where the codes are not the same numbers. */
  numbers?(): Promise<Float32Array<ArrayBuffer>>;
}

/** Finds the matrices of a file by the names of their weights. */
export type PackedMethod = (
  file: WeightFile,
  settings: Config,
) => ReadonlyMap<string, PackedMatrix>;

/** Throws the error for a file that contradicts itself. */
export function refuse(name: string, problem: string): never {
  return fail("InvalidArgument", "fromPretrained", `${name}: ${problem}.`);
}

/** Reads a tensor of a file as an array. */
export async function arrayOf<Numbers>(
  file: WeightFile,
  key: string,
  shape: readonly (number | null)[],
): Promise<Numbers> {
  const tensor = await file.tensor(key);
  try {
    const isRight =
      tensor.ndim === shape.length &&
      shape.every((size, i) => size === null || size === tensor.shape[i]);
    if (!isRight) {
      const expected = shape.map((size) => size ?? "any").join(", ");
      refuse(key, `expected the shape [${expected}], got [${tensor.shape.join(", ")}]`);
    }
    const isHalf = /float16/.test(tensor.dtype);
    return (isHalf ? tensor.float() : tensor).dataSync() as Numbers;
  } finally {
    tensor.dispose();
  }
}

/** Returns the number of columns with the same scale, null for whole rows; throws for a number that quantized layers do not support. */
export function groupOf(settings: Config, columns: number | null = null): number | null {
  const size = settings.whole("group_size", 128);
  if (size === -1 || (columns !== null && size >= columns)) return null;
  if (size < 1 || size % 32 !== 0) settings.refuse("group_size", size, [-1, 32, 64, 128]);
  return size;
}

/** Returns offsets and scales [rows, groups] of scales and zeros [groups, rows]. */
export function turned(
  scales: Float32Array,
  zeros: ArrayLike<number>,
  rows: number,
  middle: number,
): { readonly scales: Float32Array; readonly offsets: Float32Array } {
  const groups = scales.length / rows;
  const made = {
    scales: new Float32Array(scales.length),
    offsets: new Float32Array(scales.length),
  };
  for (let row = 0; row < rows; row++) {
    for (let group = 0; group < groups; group++) {
      const scale = scales[group * rows + row] as number;
      made.scales[row * groups + group] = scale;
      made.offsets[row * groups + group] = (middle - (zeros[group * rows + row] as number)) * scale;
    }
  }
  return made;
}

/** Stores a code of a row. */
export function putCode(codes: Uint8Array, bits: number, at: number, code: number): void {
  if (bits === 8) codes[at] = code;
  else codes[at >> 1] = (codes[at >> 1] as number) | (code << (4 * (at & 1)));
}
