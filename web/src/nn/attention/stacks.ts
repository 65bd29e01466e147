// Stacks of transformer layers.

import { type MixedArguments, readArguments } from "../../arguments/read.js";
import { boolean, count, type Options, Rule } from "../../arguments/rule.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ModuleList } from "../containers/module_list.js";
import { Module } from "../module.js";
import { type DecoderLayerOptions, kDecoderMasks } from "./decoder_layer.js";
import type { EncoderOptions } from "./encoder_layer.js";

/** A layer of `TransformerEncoder`. */
export interface EncoderLayer extends Module {
  forward(src: Tensor, options: EncoderOptions): Tensor;
}

/** A layer of `TransformerDecoder`. */
export interface DecoderLayer extends Module {
  forward(tgt: Tensor, memory: Tensor, options: DecoderLayerOptions): Tensor;
}

/** A module that normalizes what the layers return. */
export interface FinalNorm extends Module {
  forward(input: Tensor): Tensor;
}

const kModule = new Rule<Module>("a module", (value) => value instanceof Module);

const kNorm = kModule.orNull() as Rule<FinalNorm | null>;

const kEncoderArguments = {
  encoderLayer: kModule as Rule<EncoderLayer>,
  numLayers: count,
  /** Normalizes the result; default none. */
  norm: kNorm,
  /** Lets PyTorch skip padding in evaluation; no effect here, where padding is always computed. Default true. */
  enableNestedTensor: boolean.or(true),
  /** Lets PyTorch check the padding before it skips it; no effect here. Default true. */
  maskCheck: boolean.or(true),
};

/** Options of `TransformerEncoder`. */
export type TransformerEncoderOptions = Options<
  Pick<typeof kEncoderArguments, "norm" | "enableNestedTensor" | "maskCheck">
>;

const kEncoderCallOptions = {
  /** Pairs of positions to ignore. */
  mask: tensorRule.orNull(),
  /** Positions to ignore, per sequence. */
  srcKeyPaddingMask: tensorRule.orNull(),
  /** Declares that `mask` is the causal mask; default false. */
  isCausal: boolean.orNull(),
};

/** Options of a call of `TransformerEncoder`. */
export type TransformerEncoderCall = Options<typeof kEncoderCallOptions>;

/** What a call takes besides the source: options by name, or all by position. */
export type TransformerEncoderArguments =
  | [options?: TransformerEncoderCall]
  | [mask: Tensor | null, srcKeyPaddingMask?: Tensor | null, isCausal?: boolean | null];

/** Copies of an encoder layer, each applied to the output of the one before. */
export class TransformerEncoder extends Module {
  layers: ModuleList<EncoderLayer>;
  readonly numLayers: number;
  norm: FinalNorm | null;

  constructor(
    encoderLayer: EncoderLayer,
    numLayers: number,
    norm?: FinalNorm | null,
    enableNestedTensor?: boolean,
    maskCheck?: boolean,
  );
  constructor(
    encoderLayer: EncoderLayer,
    numLayers: number,
    ...rest: MixedArguments<
      [norm: FinalNorm | null, enableNestedTensor: boolean, maskCheck: boolean],
      TransformerEncoderOptions
    >
  );
  constructor(encoderLayer: EncoderLayer, numLayers: number, options?: TransformerEncoderOptions);
  constructor(...given: unknown[]) {
    super();
    const own = readArguments(new.target.name, kEncoderArguments, given);
    this.layers = copiesOf(own.encoderLayer, own.numLayers);
    this.numLayers = own.numLayers;
    this.norm = own.norm;
  }

  override forward(src: Tensor, ...given: TransformerEncoderArguments): Tensor {
    const call = readArguments("TransformerEncoder", kEncoderCallOptions, given);
    const { mask: srcMask, srcKeyPaddingMask } = call;
    return scope(() => {
      const isCausal = call.isCausal ?? false;
      let value = src;
      for (const layer of this.layers) {
        value = layer.call(value, { srcMask, srcKeyPaddingMask, isCausal });
      }
      return this.norm === null ? value : this.norm.call(value);
    });
  }
}

const kDecoderArguments = {
  decoderLayer: kModule as Rule<DecoderLayer>,
  numLayers: count,
  /** Normalizes the result; default none. */
  norm: kNorm,
};

/** Options of `TransformerDecoder`. */
export type TransformerDecoderOptions = Options<Pick<typeof kDecoderArguments, "norm">>;

const kDecoderCallOptions = {
  ...kDecoderMasks,
  /** Declares that `tgtMask` is the causal mask; default false. */
  tgtIsCausal: boolean.orNull(),
  /** Declares that `memoryMask` is the causal mask; default false. */
  memoryIsCausal: boolean.or(false),
};

/** Options of a call of `TransformerDecoder`. */
export type TransformerDecoderCall = Options<typeof kDecoderCallOptions & typeof kDecoderMasks>;

/** What a call takes besides target and memory: options by name, or all by position. */
export type TransformerDecoderArguments =
  | [options?: TransformerDecoderCall]
  | [
      tgtMask: Tensor | null,
      memoryMask?: Tensor | null,
      tgtKeyPaddingMask?: Tensor | null,
      memoryKeyPaddingMask?: Tensor | null,
      tgtIsCausal?: boolean | null,
      memoryIsCausal?: boolean,
    ];

/** Copies of a decoder layer, each applied to the output of the one before. */
export class TransformerDecoder extends Module {
  layers: ModuleList<DecoderLayer>;
  readonly numLayers: number;
  norm: FinalNorm | null;

  constructor(decoderLayer: DecoderLayer, numLayers: number, norm?: FinalNorm | null);
  constructor(
    decoderLayer: DecoderLayer,
    numLayers: number,
    ...rest: MixedArguments<[norm: FinalNorm | null], TransformerDecoderOptions>
  );
  constructor(decoderLayer: DecoderLayer, numLayers: number, options?: TransformerDecoderOptions);
  constructor(...given: unknown[]) {
    super();
    const own = readArguments(new.target.name, kDecoderArguments, given);
    this.layers = copiesOf(own.decoderLayer, own.numLayers);
    this.numLayers = own.numLayers;
    this.norm = own.norm;
  }

  override forward(tgt: Tensor, memory: Tensor, ...given: TransformerDecoderArguments): Tensor {
    const call = readArguments("TransformerDecoder", kDecoderCallOptions, given);
    return scope(() => {
      const tgtIsCausal = call.tgtIsCausal ?? false;
      let value = tgt;
      for (const layer of this.layers) value = layer.call(value, memory, { ...call, tgtIsCausal });
      return this.norm === null ? value : this.norm.call(value);
    });
  }
}

function copiesOf<M extends Module>(layer: M, count: number): ModuleList<M> {
  return new ModuleList(Array.from({ length: count }, () => layer.clone()));
}
