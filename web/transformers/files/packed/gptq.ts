// GPTQ: an int32 packs the codes of several inputs, or the zero points of several outputs. With desc_act, the inputs of a group are not neighbors.

import type { Bits } from "../../blocks/code_format.js";
import type { WeightFile } from "../weight_file.js";
import {
  arrayOf,
  groupOf,
  type OrderedRows,
  type PackedMatrix,
  type PackedMethod,
  putCode,
  refuse,
  turned,
} from "./method.js";

/** Finds the matrices of GPTQ. */
export const gptq: PackedMethod = (file, settings) => {
  const bits = settings.size("bits", 4);
  if (bits !== 4 && bits !== 8) return settings.refuse("bits", bits, [4, 8]);
  const group = groupOf(settings);
  // The first files store each zero less one.
  const kind = settings.choice("checkpoint_format", ["gptq", "gptq_v2"], "gptq");
  const layers = file.keys.flatMap((key) => (key.endsWith(".qweight") ? [key.slice(0, -8)] : []));
  return new Map(
    layers.map((layer) => [`${layer}.weight`, matrixOf(file, layer, { bits, group, kind })]),
  );
};

interface Settings {
  readonly bits: Bits;
  readonly group: number | null;
  readonly kind: "gptq" | "gptq_v2";
}

function matrixOf(file: WeightFile, layer: string, { bits, group, kind }: Settings): PackedMatrix {
  const at = (part: string) => `${layer}.${part}`;
  const hasOrder = file.keys.includes(at("g_idx"));
  const parts = ["qweight", "qzeros", "scales", ...(hasOrder ? ["g_idx"] : [])].map(at);
  const inOne = 32 / bits;
  const mask = 2 ** bits - 1;
  const sizes = async () => {
    const { shape } = await file.info(at("qweight"));
    const { dtype } = await file.info(at("scales"));
    const [count = 0, rows = 0] = shape;
    return { rows, columns: count * inOne, dtype };
  };
  const codes = async (): Promise<OrderedRows> => {
    const { rows, columns } = await sizes();
    const groups = group === null ? 1 : Math.ceil(columns / group);
    const words = await arrayOf<Int32Array>(file, at("qweight"), [columns / inOne, rows]);
    const packed = await arrayOf<Int32Array>(file, at("qzeros"), [groups, rows / inOne]);
    const scales = await arrayOf<Float32Array>(file, at("scales"), [groups, rows]);
    const index = hasOrder ? await arrayOf<Int32Array>(file, at("g_idx"), [columns]) : null;
    const order = index && orderOf(layer, index, group ?? columns);
    const list = new Uint8Array((rows * columns * bits) / 8);
    for (let column = 0; column < columns; column++) {
      const own = order?.[column] ?? column;
      const from = Math.floor(own / inOne) * rows;
      const shift = (own % inOne) * bits;
      for (let row = 0; row < rows; row++) {
        putCode(
          list,
          bits,
          row * columns + column,
          ((words[from + row] as number) >>> shift) & mask,
        );
      }
    }
    const more = kind === "gptq" ? 1 : 0;
    const zeros = Array.from({ length: groups * rows }, (_, i) => {
      const word = packed[Math.floor(i / inOne)] as number;
      return ((word >>> ((i % inOne) * bits)) + more) & mask;
    });
    return { codes: list, ...turned(scales, zeros, rows, 2 ** (bits - 1)), order };
  };
  return { parts, format: { bits, groupSize: group, hasOffset: true }, sizes, codes };
}

// The inputs in the order of their groups; null if that is their own.
function orderOf(layer: string, index: Int32Array, group: number): number[] | null {
  const order = Array.from(index.keys()).sort(
    (a, b) => (index[a] as number) - (index[b] as number) || a - b,
  );
  const isWhole = order.every((column, i) => index[column] === Math.floor(i / group));
  if (!isWhole) refuse(`${layer}.g_idx`, `expected groups of ${group} inputs`);
  return order.every((column, i) => column === i) ? null : order;
}
