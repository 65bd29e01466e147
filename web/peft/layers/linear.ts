// LoRA, rsLoRA and DoRA for linear layers.

import * as eg from "edgegrad";
import {
  AdapterLayer,
  type AdapterSettings,
  drawFactors,
  failForQuantized,
  isFloating,
  partOf,
  storedFactors,
  Weight,
} from "./adapter_layer.js";

/** A layer that computes x Wᵀ + b, or with `fanInFanOut` x W + b. */
export type LinearLike = eg.nn.Module & {
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly weight: eg.Tensor;
  readonly bias: eg.Tensor | null;
  readonly fanInFanOut?: boolean;
  forward(x: eg.Tensor): eg.Tensor;
};

/** Whether a module is a linear layer. */
export function isLinear(module: eg.nn.Module): module is LinearLike {
  const { weight, inFeatures, outFeatures } = module as eg.nn.Module & Partial<LinearLike>;
  return weight instanceof eg.Tensor && weight.ndim === 2 && !!inFeatures && !!outFeatures;
}

const plain = { bias: false } as const;

/** A linear layer with low-rank adapters: W x + scaling B A x. */
export class LoraLinear extends AdapterLayer {
  base_layer: LinearLike;
  lora_A = new eg.nn.ModuleDict<eg.nn.Linear>();
  lora_B = new eg.nn.ModuleDict<eg.nn.Linear>();
  lora_magnitude_vector = new eg.nn.ModuleDict<Weight>();

  constructor(base: LinearLike) {
    super();
    this.base_layer = base;
  }

  /** The weight of the base layer. */
  get weight(): eg.Tensor {
    return this.base_layer.weight;
  }

  override add(name: string, settings: AdapterSettings): void {
    const { inFeatures, outFeatures, weight } = this.base_layer;
    if (settings.config.useDora && !isFloating(weight)) failForQuantized("adapted by DoRA");
    const options = { ...plain, device: weight.device };
    const a = new eg.nn.Linear(inFeatures, settings.r, options);
    const b = new eg.nn.Linear(settings.r, outFeatures, options);
    drawFactors(a.weight, b.weight, settings);
    this.settings[name] = settings;
    this.lora_A.set(name, a);
    this.lora_B.set(name, b);
    if (!settings.config.useDora) return;
    const norm = eg.noGrad(() => this.rowNorms(name, weight));
    this.lora_magnitude_vector.set(name, new Weight(norm));
  }

  override storedTensors(name: string): Record<string, eg.nn.Parameter> {
    return {
      ...storedFactors(this.lora_A, this.lora_B, name),
      ...(this.hasDora(name) && {
        lora_magnitude_vector: partOf(this.lora_magnitude_vector, name).weight,
      }),
    };
  }

  override change(name: string, weight: eg.Tensor): eg.Tensor {
    const added = this.product(name);
    const change = this.base_layer.fanInFanOut ? added.t() : added;
    if (!this.hasDora(name)) return change;
    const factor = partOf(this.lora_magnitude_vector, name).weight.div(this.rowNorms(name, weight));
    const rows = this.base_layer.fanInFanOut ? factor : factor.unsqueeze(1);
    return weight.add(change).mul(rows).sub(weight);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    let result = this.base_layer.call(x);
    for (const name of this.applied) result = result.add(this.ownResult(name, x, result));
    return result;
  }

  private ownResult(name: string, x: eg.Tensor, result: eg.Tensor): eg.Tensor {
    const { scaling, config } = this.settingsOf(name);
    const [a, b] = [partOf(this.lora_A, name), partOf(this.lora_B, name)];
    const input = eg.dropout(x.to(a.weight.dtype), config.loraDropout, this.training);
    // Scaling is cheapest here, where there are few features.
    const low = b.call(a.call(input).mul(scaling)).to(result.dtype);
    return this.hasDora(name) ? this.doraResult(name, x, input, low, result) : low;
  }

  // m / |W + s B A| (W x + s B A x) - W x, where gradients treat the norm as a constant.
  private doraResult(
    name: string,
    x: eg.Tensor,
    input: eg.Tensor,
    low: eg.Tensor,
    result: eg.Tensor,
  ): eg.Tensor {
    const { bias, weight, fanInFanOut } = this.base_layer;
    const norm = eg.noGrad(() => this.rowNorms(name, weight));
    const factor = partOf(this.lora_magnitude_vector, name).weight.div(norm).to(result.dtype);
    const isDropped = this.training && this.settingsOf(name).config.loraDropout > 0;
    const own = isDropped
      ? eg.linear(input.to(x.dtype), fanInFanOut ? weight.t() : weight)
      : bias === null
        ? result
        : result.sub(bias);
    return own.mul(factor.sub(1)).add(low.mul(factor));
  }

  private hasDora(name: string): boolean {
    return this.settingsOf(name).config.useDora;
  }

  // [outputs, inputs]
  private product(name: string): eg.Tensor {
    const { scaling } = this.settingsOf(name);
    const [a, b] = [partOf(this.lora_A, name).weight, partOf(this.lora_B, name).weight];
    return eg.matmul(b, a).mul(scaling).to(this.base_layer.weight.dtype);
  }

  // The row norms of the weight with the adapter.
  private rowNorms(name: string, weight: eg.Tensor): eg.Tensor {
    const rows = this.base_layer.fanInFanOut ? weight.t() : weight;
    return eg.linalg.vectorNorm(rows.add(this.product(name)).float(), { dim: 1 });
  }
}
