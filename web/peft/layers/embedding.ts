// LoRA for embeddings.

import * as eg from "edgegrad";
import { AdapterLayer, type AdapterSettings, partOf, Weight } from "./adapter_layer.js";

/** An embedding layer. */
export type EmbeddingLike = eg.nn.Module & {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  readonly weight: eg.Tensor;
  forward(ids: eg.Tensor): eg.Tensor;
};

/** Whether a module is an embedding layer. */
export function isEmbedding(module: eg.nn.Module): module is EmbeddingLike {
  const { weight, numEmbeddings, embeddingDim } = module as eg.nn.Module & Partial<EmbeddingLike>;
  return weight instanceof eg.Tensor && !!numEmbeddings && !!embeddingDim;
}

/** An embedding with a low-rank adapter: its table is W + scaling (B A)ᵀ. */
export class LoraEmbedding extends AdapterLayer {
  base_layer: EmbeddingLike;
  lora_embedding_A = new eg.nn.ModuleDict<Weight>();
  lora_embedding_B = new eg.nn.ModuleDict<Weight>();

  constructor(base: EmbeddingLike) {
    super();
    this.base_layer = base;
  }

  /** The weight of the base layer. */
  get weight(): eg.Tensor {
    return this.base_layer.weight;
  }

  override add(name: string, settings: AdapterSettings): void {
    const { numEmbeddings: words, embeddingDim: size, weight } = this.base_layer;
    const { device } = weight;
    const isZero = settings.config.initLoraWeights !== false;
    const shape = [settings.r, words];
    const a = isZero ? eg.zeros(shape, { device }) : eg.randn(shape, { device });
    this.settings[name] = settings;
    this.lora_embedding_A.set(name, new Weight(a));
    this.lora_embedding_B.set(name, new Weight(eg.randn([size, settings.r], { device })));
  }

  override storedTensors(name: string): Record<string, eg.nn.Parameter> {
    return {
      lora_embedding_A: partOf(this.lora_embedding_A, name).weight,
      lora_embedding_B: partOf(this.lora_embedding_B, name).weight,
    };
  }

  override change(name: string, weight: eg.Tensor): eg.Tensor {
    const { scaling } = this.settingsOf(name);
    const { lora_embedding_A: a, lora_embedding_B: b } = this.storedTensors(name);
    return eg
      .matmul(b as eg.Tensor, a as eg.Tensor)
      .t()
      .mul(scaling)
      .to(weight.dtype);
  }

  override forward(ids: eg.Tensor): eg.Tensor {
    let result = this.base_layer.call(ids);
    for (const name of this.applied) {
      const { scaling } = this.settingsOf(name);
      const { lora_embedding_A: a, lora_embedding_B: b } = this.storedTensors(name);
      const low = eg.nn.functional.embedding(ids, (a as eg.Tensor).t());
      result = result.add(eg.linear(low.mul(scaling), b as eg.Tensor).to(result.dtype));
    }
    return result;
  }
}
