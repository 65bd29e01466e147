// bitsandbytes: rows of eight bits with their largest number, or blocks of four-bit places in a table (NF4, FP4).

import type * as eg from "edgegrad";
import type { WeightFile } from "../weight_file.js";
import {
  arrayOf,
  type OrderedRows,
  type PackedMatrix,
  type PackedMethod,
  refuse,
} from "./method.js";

const kState = /^(.*\.weight)\.quant_state\.bitsandbytes__(nf4|fp4)$/;

/** Finds the matrices of bitsandbytes. */
export const bitsandbytes: PackedMethod = (file) => {
  const matrices = new Map<string, PackedMatrix>();
  for (const key of file.keys) {
    const [, weight] = kState.exec(key) ?? [];
    if (weight !== undefined) matrices.set(weight, inFour(file, weight, key));
    else if (key.endsWith(".SCB")) {
      const layer = key.slice(0, -4);
      matrices.set(`${layer}.weight`, inEight(file, layer));
    }
  }
  return matrices;
};

function inEight(file: WeightFile, layer: string): PackedMatrix {
  const weight = `${layer}.weight`;
  const sizes = async () => {
    const { shape } = await file.info(weight);
    const [rows = 0, columns = 0] = shape;
    return { rows, columns, dtype: "float16" as const };
  };
  const codes = async (): Promise<OrderedRows> => {
    const { rows, columns } = await sizes();
    const numbers = await arrayOf<Int8Array>(file, weight, [rows, columns]);
    if (!(numbers instanceof Int8Array)) refuse(weight, "expected the dtype int8");
    const largest = await arrayOf<Float32Array>(file, `${layer}.SCB`, [rows]);
    const list = Uint8Array.from(numbers, (number) => number + 128);
    return { codes: list, scales: largest.map((scale) => scale / 127), offsets: null, order: null };
  };
  const format = file.keys.filter((key) => key === `${layer}.weight_format`);
  const parts = [weight, `${layer}.SCB`, ...format];
  return { parts, format: { bits: 8, groupSize: null, hasOffset: false }, sizes, codes };
}

interface State {
  readonly blocksize: number;
  readonly shape: readonly [rows: number, columns: number];
  readonly dtype: eg.DType;
  readonly nested_blocksize?: number;
  readonly nested_offset?: number;
}

/** The group of quantized layers, which is the block of the files. */
const kBlock = 64;

function inFour(file: WeightFile, weight: string, stateKey: string): PackedMatrix {
  const parts = file.keys.filter((key) => key === weight || key.startsWith(`${weight}.`));
  const stateOf = async (): Promise<State> => {
    const text = new TextDecoder().decode(await arrayOf<Uint8Array>(file, stateKey, [null]));
    let state: Partial<State>;
    try {
      state = JSON.parse(text);
    } catch {
      return refuse(stateKey, "it is not JSON");
    }
    const { blocksize, shape, dtype } = state;
    const isMatrix =
      Array.isArray(shape) && shape.length === 2 && shape.every(Number.isSafeInteger);
    if (!isMatrix || !/^(?:b?float16|float32)$/.test(String(dtype))) {
      refuse(stateKey, "expected the shape and the dtype of a matrix");
    }
    if (blocksize !== kBlock || (shape[1] as number) % kBlock !== 0) {
      refuse(
        stateKey,
        `expected blocks of ${kBlock} and rows of whole blocks; quantize with these, or save the model without quantization`,
      );
    }
    return state as State;
  };
  const sizes = async () => {
    const { shape, dtype } = await stateOf();
    return { rows: shape[0], columns: shape[1], dtype };
  };
  const read = async () => {
    const state = await stateOf();
    const [rows, columns] = state.shape;
    const count = rows * columns;
    const pairs = await arrayOf<Uint8Array>(file, weight, [count / 2, 1]);
    const table = await arrayOf<Float32Array>(file, `${weight}.quant_map`, [16]);
    const largest = await largestOf(file, weight, state, count / kBlock);
    const places = Uint8Array.from({ length: count }, (_, i) => {
      const pair = pairs[i >> 1] as number;
      return i % 2 === 0 ? pair >> 4 : pair & 15;
    });
    return { places, table, largest };
  };
  return {
    parts,
    format: { bits: 8, groupSize: kBlock, hasOffset: false },
    sizes,
    // The nearest eight bits of the numbers of the table.
    async codes(): Promise<OrderedRows> {
      const { places, table, largest } = await read();
      const nearest = Array.from(table, (value) => 128 + Math.round(127 * value));
      const scales = largest.map((scale) => scale / 127);
      const codes = places.map((place) => nearest[place] as number);
      return { codes, scales, offsets: null, order: null };
    },
    async numbers() {
      const { places, table, largest } = await read();
      return Float32Array.from(places, (place, i) => {
        return (table[place] as number) * (largest[Math.floor(i / kBlock)] as number);
      });
    },
  };
}

// The largest number of each block; with double quantization they are places in a table too.
async function largestOf(
  file: WeightFile,
  weight: string,
  { nested_blocksize: block, nested_offset: offset = 0 }: State,
  count: number,
): Promise<Float32Array> {
  const stored = await arrayOf<Float32Array | Uint8Array>(file, `${weight}.absmax`, [count]);
  if (stored instanceof Float32Array) return stored;
  if (!block) return refuse(`${weight}.absmax`, "expected the dtype float32");
  const table = await arrayOf<Float32Array>(file, `${weight}.nested_quant_map`, [256]);
  const nested = await arrayOf<Float32Array>(file, `${weight}.nested_absmax`, [
    Math.ceil(count / block),
  ]);
  return Float32Array.from(stored, (place, i) => {
    return (table[place] as number) * (nested[Math.floor(i / block)] as number) + offset;
  });
}
