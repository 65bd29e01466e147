// Layers whose weights come from a file: they are created without allocating or initializing weights.

import * as eg from "edgegrad";

/** A linear layer, which may be replaced by an adapter layer. */
export type Projection = eg.nn.Module & { forward(x: eg.Tensor): eg.Tensor };

/** Creates a parameter that has a shape, but no memory until weights are loaded. */
export function unloaded(...shape: readonly number[]): eg.nn.Parameter {
  return eg.scope(() => new eg.nn.Parameter(eg.zeros([]).expand([...shape])));
}

/** y = x Wᵀ + b. */
export class Linear extends eg.nn.Linear {
  override readonly inFeatures: number;
  override readonly outFeatures: number;

  constructor(inFeatures: number, outFeatures: number, bias = true) {
    super(0, 0, { bias });
    this.inFeatures = inFeatures;
    this.outFeatures = outFeatures;
    this.weight = unloaded(outFeatures, inFeatures);
    if (bias) this.bias = unloaded(outFeatures);
  }
}

/** y = x W + b, as GPT-2 stores its layers: dimension 0 of the weight is the inputs. */
export class Conv1D extends eg.nn.Module {
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** Tells edgegrad/peft which dimension of the weight is which. */
  readonly fanInFanOut = true;
  weight: eg.nn.Parameter;
  bias: eg.nn.Parameter;

  constructor(inFeatures: number, outFeatures: number) {
    super();
    this.inFeatures = inFeatures;
    this.outFeatures = outFeatures;
    this.weight = unloaded(inFeatures, outFeatures);
    this.bias = unloaded(outFeatures);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return eg.linear(x, this.weight.t(), this.bias);
  }

  override extraRepr(): string {
    return `${this.inFeatures}, ${this.outFeatures}`;
  }
}

/** A table of vectors. */
export class Embedding extends eg.nn.Embedding {
  override readonly numEmbeddings: number;
  override readonly embeddingDim: number;
  override readonly paddingIdx: number | null;

  constructor(numEmbeddings: number, embeddingDim: number, paddingIdx: number | null = null) {
    super(0, 0);
    this.numEmbeddings = numEmbeddings;
    this.embeddingDim = embeddingDim;
    this.paddingIdx = paddingIdx;
    this.weight = unloaded(numEmbeddings, embeddingDim);
  }
}
