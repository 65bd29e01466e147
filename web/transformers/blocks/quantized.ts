// Layers with four-bit or eight-bit weights. Products decode the weights on the fly, so that there is never a float copy of a matrix.

import * as eg from "edgegrad";
import { Conv1D, Embedding, Linear } from "./linear.js";

/** The bits of a weight. */
export type Bits = 4 | 8;

/** The number of columns that share a scale: few with four bits, because the largest value of a group limits its precision. */
const kGroupSizes: Readonly<Record<Bits, number | null>> = { 4: 32, 8: null };

/** The codes are not in state dicts, because files store float weights. */
const kOwn = { persistent: false } as const;

/** A quantized matrix, which is not trained: [rows, columns]. */
export class QuantizedMatrix {
  readonly groupSize: number | null;
  /** The codes, as `eg.quantize` returns them, and their scales. */
  weight: eg.nn.Buffer;
  scale: eg.nn.Buffer;

  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly bits: Bits,
  ) {
    this.groupSize = kGroupSizes[bits];
    const bytes = Math.ceil((columns * bits) / 8);
    const groups = this.groupSize === null ? 1 : Math.max(1, Math.ceil(columns / this.groupSize));
    this.weight = new eg.nn.Buffer(eg.zeros([rows, bytes], { dtype: "uint8" }), kOwn);
    this.scale = new eg.nn.Buffer(eg.zeros([rows, groups]), kOwn);
  }

  /** Stores the values of the rows from `start` on, or of the columns if they are transposed. */
  put(start: number, numbers: eg.Tensor, isTransposed: boolean): void {
    eg.noGrad(() =>
      eg.scope(() => {
        const rows = isTransposed ? numbers.t() : numbers;
        const [codes, scale] = eg.quantize(rows, this.bits, this.groupSize);
        const count = rows.shape[0] as number;
        this.weight.narrow(0, start, count).copy_(codes);
        this.scale.narrow(0, start, count).copy_(scale);
      }),
    );
  }

  /** Moves the codes to a device. */
  moveTo(device: eg.Device): void {
    if (device === this.weight.device) return;
    const [weight, scale] = [this.weight, this.scale];
    this.weight = new eg.nn.Buffer(weight.to(device), kOwn);
    this.scale = new eg.nn.Buffer(scale.to(device), kOwn);
    weight.dispose();
    scale.dispose();
  }
}

/** y = x Wᵀ + b with a quantized weight. */
export class QuantizedLinear extends eg.nn.Module {
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly bits: Bits;
  readonly groupSize: number | null;
  weight: eg.nn.Buffer;
  scale: eg.nn.Buffer;
  bias: eg.nn.Parameter | null;

  constructor(matrix: QuantizedMatrix, bias: eg.nn.Parameter | null) {
    super();
    this.outFeatures = matrix.rows;
    this.inFeatures = matrix.columns;
    this.bits = matrix.bits;
    this.groupSize = matrix.groupSize;
    this.weight = matrix.weight;
    this.scale = matrix.scale;
    this.bias = bias;
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { weight, scale, bias, bits, groupSize } = this;
    return eg.quantizedLinear(x, weight, scale, bias, bits, groupSize);
  }

  override extraRepr(): string {
    return `${this.inFeatures}, ${this.outFeatures}, bits=${this.bits}`;
  }
}

/** A quantized embedding table. */
export class QuantizedEmbedding extends eg.nn.Module {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  readonly bits: Bits;
  weight: eg.nn.Buffer;
  scale: eg.nn.Buffer;

  /** `dtype` is that of the vectors. */
  constructor(
    matrix: QuantizedMatrix,
    readonly dtype: eg.DType,
  ) {
    super();
    this.numEmbeddings = matrix.rows;
    this.embeddingDim = matrix.columns;
    this.bits = matrix.bits;
    this.weight = matrix.weight;
    this.scale = matrix.scale;
  }

  override forward(ids: eg.Tensor): eg.Tensor {
    const chosen = ids.flatten();
    const codes = eg.indexSelect(this.weight, 0, chosen);
    const scale = eg.indexSelect(this.scale, 0, chosen);
    const vectors = eg.dequantize(codes, scale, this.bits).to(this.dtype);
    return vectors.reshape([...ids.shape, this.embeddingDim]);
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

/**
 * Returns the matrices of a model to quantize, by the names of their weights: those of layers for which `isKept` is false, and embedding tables
 * that are tied to a head, which always get eight bits.
 */
export function quantizable(
  model: eg.nn.Module,
  tied: Readonly<Record<string, string>>,
  bits: Bits,
  isKept: (name: string) => boolean,
): Map<string, Quantized> {
  const found = new Map<string, Quantized>();
  for (const [name, layer] of model.namedModules()) {
    if (!(layer instanceof Linear || layer instanceof Conv1D) || isKept(name)) continue;
    const matrix = new QuantizedMatrix(layer.outFeatures, layer.inFeatures, bits);
    found.set(`${name}.weight`, {
      matrix,
      isTransposed: layer instanceof Conv1D,
      place: () => put(model, name, new QuantizedLinear(matrix, layer.bias)),
    });
  }
  for (const [head, table] of tiedTables(model, tied)) {
    const { numEmbeddings, embeddingDim } = table.layer;
    const matrix = new QuantizedMatrix(numEmbeddings, embeddingDim, 8);
    found.set(`${table.name}.weight`, {
      matrix,
      isTransposed: false,
      place: (dtype) => {
        put(model, table.name, new QuantizedEmbedding(matrix, dtype));
        put(model, head.name, new QuantizedLinear(matrix, head.layer.bias));
      },
    });
  }
  return found;
}

interface Named<Layer> {
  readonly name: string;
  readonly layer: Layer;
}

// Embedding tables that are tied to exactly one head and to nothing else.
function* tiedTables(
  model: eg.nn.Module,
  tied: Readonly<Record<string, string>>,
): Iterable<[head: Named<Linear>, table: Named<Embedding>]> {
  const layerOf = (weight: string) => {
    const name = weight.replace(/\.weight$/, "");
    return { name, layer: model.getSubmodule(name) };
  };
  const tables = Object.values(tied);
  for (const pair of Object.entries(tied)) {
    if (!pair[0].endsWith(".weight")) continue;
    const [head, table] = pair.map(layerOf) as [Named<eg.nn.Module>, Named<eg.nn.Module>];
    const isAlone = tables.filter((one) => one === pair[1]).length === 1;
    if (isAlone && head.layer instanceof Linear && table.layer instanceof Embedding) {
      yield [head as Named<Linear>, table as Named<Embedding>];
    }
  }
}

function put(model: eg.nn.Module, name: string, layer: eg.nn.Module): void {
  const parts = name.split(".");
  const property = parts.pop() as string;
  Object.assign(model.getSubmodule(parts.join(".")), { [property]: layer });
}
