// Layers with four-bit or eight-bit weights. Products decode the weights on the fly, so that there is never a float copy of a matrix.

import * as eg from "edgegrad";
import type { Bits, CodeFormat, CodeRows } from "./code_format.js";
import { Conv1D, Embedding, Linear } from "./linear.js";

/** The number of columns that share a scale: few with four bits, because the largest value of a group limits its precision. */
const kGroupSizes: Readonly<Record<Bits, number | null>> = { 4: 32, 8: null };

/** Returns how numbers are stored with few bits. */
export const formatOf = (bits: Bits): CodeFormat => ({
  bits,
  groupSize: kGroupSizes[bits],
  hasOffset: false,
});

/** The codes are not in state dicts, because files store float weights. */
const kOwn = { persistent: false } as const;

const kept = (tensor: eg.Tensor) => new eg.nn.Buffer(tensor, kOwn);

/** A quantized matrix, which is not trained: [rows, columns]. */
export class QuantizedMatrix {
  readonly bits: Bits;
  readonly groupSize: number | null;
  /** The codes, as `eg.quantize` returns them, and their scales. */
  weight: eg.nn.Buffer;
  scale: eg.nn.Buffer;
  /** What is added to the numbers of each group, if there is something. */
  offset: eg.nn.Buffer | null;
  /** The position that each column of the input has among those of the codes, if it is another. */
  order: eg.nn.Buffer | null = null;

  constructor(
    readonly rows: number,
    readonly columns: number,
    { bits, groupSize, hasOffset }: CodeFormat,
  ) {
    this.bits = bits;
    this.groupSize = groupSize;
    const bytes = Math.ceil((columns * bits) / 8);
    const groups = groupSize === null ? 1 : Math.max(1, Math.ceil(columns / groupSize));
    this.weight = kept(eg.zeros([rows, bytes], { dtype: "uint8" }));
    this.scale = kept(eg.zeros([rows, groups]));
    this.offset = hasOffset ? kept(eg.zeros([rows, groups])) : null;
  }

  /** Stores numbers of the rows from `start` on. */
  put(start: number, numbers: eg.Tensor): void {
    this.putAt(rowsFrom(start, numbers.shape[0] as number), numbers);
  }

  /** Stores numbers of rows. */
  putAt(rows: readonly number[], numbers: eg.Tensor): void {
    eg.noGrad(() =>
      eg.scope(() => {
        const [codes, scale] = eg.quantize(numbers, this.bits, this.groupSize);
        this.store(rows, [codes, scale, null]);
      }),
    );
  }

  /** Stores codes of rows. */
  putCodes(rows: readonly number[], { codes, scales, offsets }: CodeRows): void {
    const of = (numbers: Uint8Array | Float32Array, dtype: eg.DType) =>
      eg.tensor(numbers, { shape: [rows.length, numbers.length / rows.length], dtype });
    eg.scope(() => {
      const tensors = [of(codes, "uint8"), of(scales, "float32")] as const;
      this.store(rows, [...tensors, offsets && of(offsets, "float32")]);
    });
  }

  /** Removes offsets that are all zero. */
  dropOffset(): void {
    this.offset?.dispose();
    this.offset = null;
  }

  /** Sets which column of the input each column of the codes is for. */
  setOrder(order: readonly number[]): void {
    this.order = kept(eg.tensor([...order], { dtype: "int64" }));
  }

  /** Returns the numbers. */
  numbers(): eg.Tensor {
    const { weight, scale, offset, order, bits, groupSize, columns } = this;
    const whole = eg.dequantize(weight, scale, bits, groupSize).narrow(1, 0, columns);
    const placed = offset === null ? whole : whole.add(spread(offset, groupSize, columns));
    return order === null ? placed : eg.indexSelect(placed, 1, eg.argsort(order));
  }

  private store(
    rows: readonly number[],
    [codes, scale, offset]: readonly [codes: eg.Tensor, scale: eg.Tensor, offset: eg.Tensor | null],
  ): void {
    const index = eg.tensor([...rows], { dtype: "int64" });
    this.weight.indexCopy_(0, index, codes);
    this.scale.indexCopy_(0, index, scale);
    if (offset !== null) this.offset?.indexCopy_(0, index, offset);
  }

  /** Moves the codes to a device. */
  moveTo(device: eg.Device): void {
    if (device === this.weight.device) return;
    const moved = (buffer: eg.nn.Buffer) => {
      const moved = kept(buffer.to(device));
      buffer.dispose();
      return moved;
    };
    this.weight = moved(this.weight);
    this.scale = moved(this.scale);
    this.offset = this.offset && moved(this.offset);
    this.order = this.order && moved(this.order);
  }
}

/** Returns the numbers of rows from `start` on. */
export const rowsFrom = (start: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start + i);

/** Returns for each column the offset of its group. */
function spread(offsets: eg.Tensor, groupSize: number | null, columns: number): eg.Tensor {
  if (groupSize === null) return offsets;
  return eg.repeatInterleave(offsets, groupSize, 1).narrow(1, 0, columns);
}

/** A layer with a quantized matrix. */
abstract class QuantizedLayer extends eg.nn.Module {
  readonly bits: Bits;
  readonly groupSize: number | null;
  weight: eg.nn.Buffer;
  scale: eg.nn.Buffer;
  offset: eg.nn.Buffer | null;
  order: eg.nn.Buffer | null;

  constructor(matrix: QuantizedMatrix) {
    super();
    this.bits = matrix.bits;
    this.groupSize = matrix.groupSize;
    this.weight = matrix.weight;
    this.scale = matrix.scale;
    this.offset = matrix.offset;
    this.order = matrix.order;
  }
}

/** y = x Wᵀ + b with a quantized weight. */
export class QuantizedLinear extends QuantizedLayer {
  readonly inFeatures: number;
  readonly outFeatures: number;
  bias: eg.nn.Parameter | null;

  constructor(matrix: QuantizedMatrix, bias: eg.nn.Parameter | null) {
    super(matrix);
    this.outFeatures = matrix.rows;
    this.inFeatures = matrix.columns;
    this.bias = bias;
  }

  override forward(input: eg.Tensor): eg.Tensor {
    const { weight, scale, offset, order, bias, bits, groupSize } = this;
    const x = order === null ? input : eg.indexSelect(input, -1, order);
    if (offset === null) return eg.quantizedLinear(x, weight, scale, bias, bits, groupSize);
    // The offset of a group counts once for each of its columns. Half precision would round both parts, which are larger than their sum.
    const wide = /float16/.test(x.dtype) ? x.float() : x;
    const product = eg.quantizedLinear(wide, weight, scale, bias?.to(wide.dtype), bits, groupSize);
    return product.add(eg.linear(this.sums(wide), offset.to(wide.dtype))).to(x.dtype);
  }

  private sums(x: eg.Tensor): eg.Tensor {
    const { inFeatures, groupSize } = this;
    if (groupSize === null || groupSize >= inFeatures) return x.sum(-1, true);
    const rest = inFeatures % groupSize;
    const shape = [...x.shape.slice(0, -1), -1, groupSize];
    if (rest === 0) return x.reshape(shape).sum(-1);
    const whole = inFeatures - rest;
    const last = x.narrow(-1, whole, rest).sum(-1, true);
    return eg.cat([x.narrow(-1, 0, whole).reshape(shape).sum(-1), last], -1);
  }

  override extraRepr(): string {
    return `${this.inFeatures}, ${this.outFeatures}, bits=${this.bits}`;
  }
}

/** A quantized embedding table. */
export class QuantizedEmbedding extends QuantizedLayer {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;

  /** `dtype` is that of the vectors. */
  constructor(
    matrix: QuantizedMatrix,
    readonly dtype: eg.DType,
  ) {
    super(matrix);
    this.numEmbeddings = matrix.rows;
    this.embeddingDim = matrix.columns;
  }

  override forward(ids: eg.Tensor): eg.Tensor {
    const { embeddingDim, bits, groupSize, offset } = this;
    const chosen = ids.flatten();
    const of = (part: eg.Tensor) => eg.indexSelect(part, 0, chosen);
    const whole = eg.dequantize(of(this.weight), of(this.scale), bits, groupSize);
    const vectors = whole.narrow(1, 0, embeddingDim);
    const placed =
      offset === null ? vectors : vectors.add(spread(of(offset), groupSize, embeddingDim));
    return placed.to(this.dtype).reshape([...ids.shape, embeddingDim]);
  }

  override extraRepr(): string {
    return `${this.numEmbeddings}, ${this.embeddingDim}, bits=${this.bits}`;
  }
}

/** A matrix to quantize while a model is being loaded. */
export interface Quantized {
  readonly matrix: QuantizedMatrix;
  /** Whether the file stores the transposed matrix. */
  readonly isTransposed: boolean;
  /** Replaces the layers that use the matrix. */
  place(dtype: eg.DType): void;
}

/** Returns how the matrix of a layer, by the name of its weight, is stored; null for floats. */
export type FormatOf = (name: string, kind: "layer" | "table" | "tied table") => CodeFormat | null;

/** Returns the matrices of a model that are stored with few bits, by the names of their weights. */
export function quantizable(
  model: eg.nn.Module,
  tied: Readonly<Record<string, string>>,
  formatOf: FormatOf,
): Map<string, Quantized> {
  const found = new Map<string, Quantized>();
  const heads = tiedTables(model, tied);
  for (const [name, layer] of model.namedModules()) {
    const weight = `${name}.weight`;
    if (layer instanceof Linear || layer instanceof Conv1D) {
      const format = Object.hasOwn(tied, weight) ? null : formatOf(weight, "layer");
      if (format === null) continue;
      const matrix = new QuantizedMatrix(layer.outFeatures, layer.inFeatures, format);
      found.set(weight, {
        matrix,
        isTransposed: layer instanceof Conv1D,
        place: () => put(model, name, new QuantizedLinear(matrix, layer.bias)),
      });
    } else if (layer instanceof Embedding) {
      const head = heads.get(weight);
      // Other layers that read the same table need its numbers.
      if (head === undefined && Object.values(tied).includes(weight)) continue;
      const format = formatOf(weight, head ? "tied table" : "table");
      if (format === null) continue;
      const matrix = new QuantizedMatrix(layer.numEmbeddings, layer.embeddingDim, format);
      found.set(weight, {
        matrix,
        isTransposed: false,
        place: (dtype) => {
          put(model, name, new QuantizedEmbedding(matrix, dtype));
          if (head) put(model, head.name, new QuantizedLinear(matrix, head.layer.bias));
        },
      });
    }
  }
  return found;
}

interface Named<Layer> {
  readonly name: string;
  readonly layer: Layer;
}

// The heads of embedding tables that are tied to exactly one head and to nothing else.
function tiedTables(
  model: eg.nn.Module,
  tied: Readonly<Record<string, string>>,
): Map<string, Named<Linear>> {
  const layerOf = (weight: string) => model.getSubmodule(weight.replace(/\.weight$/, ""));
  const tables = Object.values(tied);
  return new Map(
    Object.entries(tied).flatMap(([head, table]): [string, Named<Linear>][] => {
      if (!head.endsWith(".weight") || tables.filter((other) => other === table).length !== 1)
        return [];
      const layer = layerOf(head);
      const isPair = layer instanceof Linear && layerOf(table) instanceof Embedding;
      return isPair ? [[table, { name: head.replace(/\.weight$/, ""), layer }]] : [];
    }),
  );
}

function put(model: eg.nn.Module, name: string, layer: eg.nn.Module): void {
  const parts = name.split(".");
  const property = parts.pop() as string;
  Object.assign(model.getSubmodule(parts.join(".")), { [property]: layer });
}
