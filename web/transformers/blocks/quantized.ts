// Layers whose weights have eight bits: a row of them shares one factor. Products see floats of a few rows at a time, so that there is never a float copy
// of a matrix.

import * as eg from "edgegrad";
import { Conv1D, Linear } from "./linear.js";

/** The most floats that exist at once: few compared with a model, many compared with the cost of a call. */
const kFloatsAtOnce = 2 ** 18;

/** The value that stands for zero, as there are no signed bytes. */
const kZero = 128;

/** Files have the weights as floats. */
const kOwn = { persistent: false } as const;

/** y = x Wᵀ + b with a weight of bytes, which is not trained. */
export class QuantizedLinear extends eg.nn.Module {
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** [outputs, inputs] as uint8: (weight - 128) * scale of the row. */
  weight: eg.nn.Buffer;
  /** [outputs, 1] */
  scale: eg.nn.Buffer;
  bias: eg.nn.Parameter | null;

  constructor(inFeatures: number, outFeatures: number, bias: eg.nn.Parameter | null) {
    super();
    this.inFeatures = inFeatures;
    this.outFeatures = outFeatures;
    this.weight = new eg.nn.Buffer(eg.zeros([0], { dtype: "uint8" }), kOwn);
    this.scale = new eg.nn.Buffer(eg.zeros([0]), kOwn);
    this.bias = bias;
  }

  /** Takes the weights of a layer: [outputs, inputs]. */
  fill(weight: eg.Tensor): void {
    eg.noGrad(() =>
      eg.scope(() => {
        const [rows, columns] = weight.shape as [number, number];
        const { device } = weight;
        const bytes = eg.empty([rows, columns], { dtype: "uint8", device });
        const scale = eg.empty([rows, 1], { device });
        for (const [start, count] of blocksOf(rows, columns)) {
          const own = weight.narrow(0, start, count).float();
          const top = own.abs().amax(1, true).clampMin(1e-30).div(127);
          scale.narrow(0, start, count).copy_(top);
          bytes.narrow(0, start, count).copy_(own.div(top).round().add(kZero));
        }
        this.weight = eg.keep(new eg.nn.Buffer(bytes, kOwn));
        this.scale = eg.keep(new eg.nn.Buffer(scale, kOwn));
      }),
    );
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const product = Product.apply(x, this.weight, this.scale) as eg.Tensor;
    return this.bias === null ? product : product.add(this.bias);
  }

  override extraRepr(): string {
    return `${this.inFeatures}, ${this.outFeatures}, bits=8`;
  }
}

function* blocksOf(rows: number, columns: number): Iterable<[start: number, count: number]> {
  const most = Math.max(1, Math.floor(kFloatsAtOnce / columns));
  for (let start = 0; start < rows; start += most) yield [start, Math.min(most, rows - start)];
}

/** x Wᵀ, whose gradient reaches x only. */
class Product extends eg.autograd.Function {
  static override forward(
    ctx: eg.autograd.FunctionContext,
    x: eg.Tensor,
    weight: eg.Tensor,
    scale: eg.Tensor,
  ): eg.Tensor {
    ctx.saveForBackward(weight, scale);
    const [rows, columns] = weight.shape as [number, number];
    const parts = [...blocksOf(rows, columns)].map(([start, count]) =>
      eg.scope(() => eg.linear(x, floatsOf(weight, scale, start, count, x.dtype))),
    );
    return parts.length === 1 ? (parts[0] as eg.Tensor) : eg.cat(parts, -1);
  }

  static override backward(
    ctx: eg.autograd.FunctionContext,
    grad: eg.Tensor,
  ): (eg.Tensor | null)[] {
    const [weight, scale] = ctx.savedTensors as [eg.Tensor, eg.Tensor];
    const [rows, columns] = weight.shape as [number, number];
    let sum: eg.Tensor | null = null;
    for (const [start, count] of blocksOf(rows, columns)) {
      const before: eg.Tensor | null = sum;
      sum = eg.scope(() => {
        const floats = floatsOf(weight, scale, start, count, grad.dtype);
        const part = grad.narrow(-1, start, count).matmul(floats);
        return before === null ? part : part.add_(before);
      });
      before?.dispose();
    }
    return [sum, null, null];
  }
}

function floatsOf(
  weight: eg.Tensor,
  scale: eg.Tensor,
  start: number,
  count: number,
  dtype: eg.DType,
): eg.Tensor {
  const bytes = weight.narrow(0, start, count).to("float32");
  return bytes
    .sub_(kZero)
    .mul_(scale.narrow(0, start, count))
    .to(dtype);
}

/** Puts quantized layers in the place of those of a model that `isKept` does not name; returns them by the names of their weights. */
export function quantize(
  model: eg.nn.Module,
  isKept: (name: string) => boolean,
): Map<string, (weight: eg.Tensor) => void> {
  const fills = new Map<string, (weight: eg.Tensor) => void>();
  for (const [name, layer] of model.namedModules()) {
    if (!(layer instanceof Linear || layer instanceof Conv1D) || isKept(name)) continue;
    const { inFeatures, outFeatures, bias } = layer;
    const quantized = new QuantizedLinear(inFeatures, outFeatures, bias);
    const parts = name.split(".");
    const property = parts.pop() as string;
    Object.assign(model.getSubmodule(parts.join(".")), { [property]: quantized });
    const isTransposed = layer instanceof Conv1D;
    fills.set(`${name}.weight`, (weight) => quantized.fill(isTransposed ? weight.t() : weight));
  }
  return fills;
}
