// What the layers of an encoder and of a decoder share: their arguments, the two linear layers, and a normalization and a dropout
// for each part.

import { readArguments } from "../../arguments/read.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Dropout } from "../dropout/dropout.js";
import type { LayerOptions } from "../layer_options.js";
import { Linear } from "../linear/linear.js";
import { Module } from "../module.js";
import { LayerNorm } from "../norm/layer_norm.js";
import { MultiheadAttention } from "./attention.js";
import {
  type Activation,
  activated,
  activationOf,
  kTransformerLayerArguments,
  type TransformerActivation,
  type TransformerLayerOptions,
} from "./transformer_options.js";

/** The masks of an attention. */
export interface Masks {
  readonly mask: Tensor | null;
  readonly padding: Tensor | null;
  readonly isCausal: boolean;
}

/** The base of the layers of a transformer. */
export abstract class TransformerLayer extends Module {
  declare self_attn: MultiheadAttention;
  declare linear1: Linear;
  declare dropout: Dropout;
  declare linear2: Linear;
  declare readonly normFirst: boolean;
  declare norm1: LayerNorm;
  declare norm2: LayerNorm;
  declare dropout1: Dropout;
  declare dropout2: Dropout;
  declare readonly activation: Activation;

  constructor(
    dModel: number,
    nhead: number,
    dimFeedforward: number,
    dropout?: number,
    activation?: TransformerActivation,
    layerNormEps?: number,
    batchFirst?: boolean,
    normFirst?: boolean,
    bias?: boolean,
    options?: LayerOptions,
  );
  constructor(
    dModel: number,
    nhead: number,
    dimFeedforward: number,
    options: TransformerLayerOptions,
  );
  constructor(dModel: number, nhead: number, options?: TransformerLayerOptions);
  constructor(...given: unknown[]) {
    super();
    const own = readArguments(new.target.name, kTransformerLayerArguments, given);
    const { dModel, nhead, dimFeedforward, dropout, layerNormEps: eps, batchFirst } = own;
    const kind = { bias: own.bias, device: own.device, dtype: own.dtype };
    // In the order of PyTorch, in which the parameters are drawn and saved.
    const add = (name: string, module: Module) => Object.assign(this, { [name]: module });
    for (const name of this.attentions)
      add(name, new MultiheadAttention(dModel, nhead, { dropout, batchFirst, ...kind }));
    this.linear1 = new Linear(dModel, dimFeedforward, kind);
    this.dropout = new Dropout(dropout);
    this.linear2 = new Linear(dimFeedforward, dModel, kind);
    this.normFirst = own.normFirst;
    const parts = [...this.attentions, "linear"].map((_, i) => i + 1);
    for (const i of parts) add(`norm${i}`, new LayerNorm(dModel, { eps, ...kind }));
    for (const i of parts) add(`dropout${i}`, new Dropout(dropout));
    this.activation = activationOf(own.activation);
  }

  /** The names of the attentions. */
  protected get attentions(): readonly string[] {
    return ["self_attn"];
  }

  /** Returns what the two linear layers add. */
  protected transform(input: Tensor, last: Dropout): Tensor {
    const inner = this.dropout.call(activated(this.activation, this.linear1.call(input)));
    return last.call(this.linear2.call(inner));
  }
}

/** Returns what an attention to a memory adds. */
export function attended(
  attention: MultiheadAttention,
  query: Tensor,
  memory: Tensor,
  { mask, padding, isCausal }: Masks,
): Tensor {
  const options = { attnMask: mask, keyPaddingMask: padding, needWeights: false, isCausal };
  return attention.call(query, memory, memory, options)[0];
}
