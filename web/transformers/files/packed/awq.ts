// AWQ: codes and zeros of eight outputs in one number, in the order of its kernels.

import type { WeightFile } from "../weight_file.js";
import {
  arrayOf,
  groupOf,
  type OrderedRows,
  type PackedMatrix,
  type PackedMethod,
  putCode,
  turned,
} from "./method.js";

/** The output of each four bits of a number, the lowest first. */
const kOrder = [0, 2, 4, 6, 1, 3, 5, 7];

/** Finds the matrices of AWQ. */
export const awq: PackedMethod = (file, settings) => {
  const bits = settings.size("bits", 4);
  if (bits !== 4) settings.refuse("bits", bits, [4]);
  settings.choice("version", ["gemm", "GEMM"], "gemm");
  const group = groupOf(settings);
  const layers = file.keys.flatMap((key) => (key.endsWith(".qweight") ? [key.slice(0, -8)] : []));
  return new Map(layers.map((layer) => [`${layer}.weight`, matrixOf(file, layer, group)]));
};

function matrixOf(file: WeightFile, layer: string, group: number | null): PackedMatrix {
  const at = (part: string) => `${layer}.${part}`;
  const sizes = async () => {
    const { shape } = await file.info(at("qweight"));
    const { dtype } = await file.info(at("scales"));
    const [columns = 0, count = 0] = shape;
    return { rows: count * 8, columns, dtype };
  };
  const codes = async (): Promise<OrderedRows> => {
    const { rows, columns } = await sizes();
    const groups = group === null ? 1 : Math.ceil(columns / group);
    const words = await arrayOf<Int32Array>(file, at("qweight"), [columns, rows / 8]);
    const packed = await arrayOf<Int32Array>(file, at("qzeros"), [groups, rows / 8]);
    const scales = await arrayOf<Float32Array>(file, at("scales"), [groups, rows]);
    const list = new Uint8Array((rows * columns) / 2);
    words.forEach((word, i) => {
      const [column, first] = [Math.floor(i / (rows / 8)), (i % (rows / 8)) * 8];
      kOrder.forEach((output, place) => {
        const code = (word >>> (4 * place)) & 15;
        putCode(list, 4, (first + output) * columns + column, code);
      });
    });
    const zeros = new Uint8Array(groups * rows);
    packed.forEach((word, i) => {
      kOrder.forEach((output, place) => {
        zeros[8 * i + output] = (word >>> (4 * place)) & 15;
      });
    });
    return { codes: list, ...turned(scales, zeros, rows, 8), order: null };
  };
  const parts = ["qweight", "qzeros", "scales"].map(at);
  return { parts, format: { bits: 4, groupSize: group, hasOffset: true }, sizes, codes };
}
