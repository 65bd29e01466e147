import {
  type Arguments,
  type MixedArguments,
  readArguments,
  readOptions,
} from "../../arguments/read.js";
import { boolean, type Options, Rule, size, wholeFrom } from "../../arguments/rule.js";
import { full, triu } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { deviceRule, dtypeRule } from "../../tensor/dtype.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { xavierUniform_ } from "../init.js";
import type { kLayerArguments, LayerOptions } from "../layer_options.js";
import { Module } from "../module.js";
import { LayerNorm } from "../norm/layer_norm.js";
import { kDecoderMasks, TransformerDecoderLayer } from "./decoder_layer.js";
import { TransformerEncoderLayer } from "./encoder_layer.js";
import {
  TransformerDecoder,
  type TransformerDecoderCall,
  TransformerEncoder,
  type TransformerEncoderCall,
} from "./stacks.js";
import { kTransformerLayerArguments } from "./transformer_options.js";

/** A module that can replace the encoder. */
export interface CustomEncoder extends Module {
  forward(src: Tensor, options: TransformerEncoderCall): Tensor;
}

/** A module that can replace the decoder. */
export interface CustomDecoder extends Module {
  forward(tgt: Tensor, memory: Tensor, options: TransformerDecoderCall): Tensor;
}

const kModule = new Rule<Module>("a module", (value) => value instanceof Module).orNull();

const { dModel, nhead, dimFeedforward, dropout, activation, ...kRest } = kTransformerLayerArguments;

const kArguments = {
  /** The number of features of source and target; default 512. */
  dModel: dModel.or(512),
  /** The number of heads; default 8. */
  nhead: nhead.or(8),
  /** The number of encoder layers; default 6. */
  numEncoderLayers: wholeFrom(1).or(6),
  /** The number of decoder layers; default 6. */
  numDecoderLayers: wholeFrom(1).or(6),
  /** The features between the linear layers; default 2048. */
  dimFeedforward,
  /** The probability of dropout; default 0.1. */
  dropout,
  /** The function between the linear layers; default "relu". */
  activation,
  /** Replaces the encoder. */
  customEncoder: kModule as Rule<CustomEncoder | null>,
  /** Replaces the decoder. */
  customDecoder: kModule as Rule<CustomDecoder | null>,
  ...kRest,
};

/** Options of `Transformer`. */
export type TransformerOptions = Options<
  Omit<typeof kArguments, keyof typeof kRest> &
    Pick<typeof kTransformerLayerArguments, "layerNormEps" | "batchFirst" | "normFirst" | "bias"> &
    typeof kLayerArguments
>;

const kCallOptions = {
  /** Pairs of source positions to ignore. */
  srcMask: tensorRule.orNull(),
  tgtMask: kDecoderMasks.tgtMask,
  memoryMask: kDecoderMasks.memoryMask,
  /** Source positions to ignore, per sequence. */
  srcKeyPaddingMask: tensorRule.orNull(),
  tgtKeyPaddingMask: kDecoderMasks.tgtKeyPaddingMask,
  memoryKeyPaddingMask: kDecoderMasks.memoryKeyPaddingMask,
  /** Declares that `srcMask` is the causal mask; default false. */
  srcIsCausal: boolean.orNull(),
  /** Declares that `tgtMask` is the causal mask; default false. */
  tgtIsCausal: boolean.orNull(),
  /** Declares that `memoryMask` is the causal mask; default false. */
  memoryIsCausal: boolean.or(false),
};

/** Options of a call of `Transformer`. */
export type TransformerCall = Options<typeof kCallOptions & typeof kDecoderMasks>;

/** What a call takes besides source and target: options by name, or all by position. */
export type TransformerArguments = Arguments<
  [
    srcMask: Tensor | null,
    tgtMask: Tensor | null,
    memoryMask: Tensor | null,
    srcKeyPaddingMask: Tensor | null,
    tgtKeyPaddingMask: Tensor | null,
    memoryKeyPaddingMask: Tensor | null,
    srcIsCausal: boolean | null,
    tgtIsCausal: boolean | null,
    memoryIsCausal: boolean,
  ],
  TransformerCall
>;

const kMaskOptions = {
  /** Where the mask is; default "cpu". */
  device: deviceRule.or("cpu"),
  /** Its element type; default "float32". */
  dtype: dtypeRule.orNull(),
};

/** An encoder of a source, and a decoder of a target that attends to the encoder's output. */
export class Transformer extends Module {
  encoder: CustomEncoder;
  decoder: CustomDecoder;
  readonly dModel: number;
  readonly nhead: number;
  readonly batchFirst: boolean;

  constructor(
    dModel?: number,
    nhead?: number,
    numEncoderLayers?: number,
    numDecoderLayers?: number,
    dimFeedforward?: number,
    dropout?: number,
  );
  constructor(
    ...rest: MixedArguments<
      [
        dModel: number,
        nhead: number,
        numEncoderLayers: number,
        numDecoderLayers: number,
        dimFeedforward: number,
        dropout: number,
      ],
      TransformerOptions
    >
  );
  constructor(options?: TransformerOptions);
  constructor(...given: unknown[]) {
    super();
    const own = readArguments(new.target.name, kArguments, given);
    const { numEncoderLayers, numDecoderLayers, customEncoder, customDecoder, ...layer } = own;
    const { dModel, nhead, ...options } = layer;
    const norm = () => {
      const { layerNormEps: eps, bias, device, dtype } = layer;
      return new LayerNorm(dModel, { eps, bias, device, dtype });
    };
    this.encoder =
      customEncoder ??
      new TransformerEncoder(
        new TransformerEncoderLayer(dModel, nhead, options),
        numEncoderLayers,
        norm(),
      );
    this.decoder =
      customDecoder ??
      new TransformerDecoder(
        new TransformerDecoderLayer(dModel, nhead, options),
        numDecoderLayers,
        norm(),
      );
    this.dModel = dModel;
    this.nhead = nhead;
    this.batchFirst = own.batchFirst;
    this.resetParameters();
  }

  /** Returns a mask [size, size] that is -Infinity where a position would see a later one, else 0. */
  static generateSquareSubsequentMask(sz: number, ...rest: [options?: LayerOptions]): Tensor {
    const where = "generateSquareSubsequentMask";
    const options = readOptions(where, kMaskOptions, rest);
    const side = size.check(where, "sz", sz);
    return scope(() => triu(full([side, side], -Infinity, options), 1));
  }

  /** Draws new weights. */
  resetParameters(): void {
    for (const parameter of this.parameters()) if (parameter.ndim > 1) xavierUniform_(parameter);
  }

  override forward(src: Tensor, tgt: Tensor, ...given: TransformerArguments): Tensor {
    const { srcMask, srcKeyPaddingMask, srcIsCausal, ...masks } = readArguments(
      "Transformer",
      kCallOptions,
      given,
    );
    this.checkInputs(src, tgt);
    return scope(() => {
      const options = { mask: srcMask, srcKeyPaddingMask, isCausal: srcIsCausal };
      const memory = this.encoder.call(src, options);
      return this.decoder.call(tgt, memory, masks);
    });
  }

  private checkInputs(src: Tensor, tgt: Tensor): void {
    const name = this.constructor.name;
    for (const [what, { shape }] of [
      ["src", tensorRule.check(name, "src", src)],
      ["tgt", tensorRule.check(name, "tgt", tgt)],
    ] as const) {
      if (shape.at(-1) === this.dModel) continue;
      const message = `${what}: expected ${this.dModel} features (dModel), got ${shape.at(-1)}.`;
      fail("ShapeMismatch", name, message);
    }
    const batch = this.batchFirst ? 0 : 1;
    if (src.ndim !== 3 || src.shape[batch] === tgt.shape[batch]) return;
    const message = `src and tgt need the same batch size, got ${src.shape[batch]} and ${tgt.shape[batch]}.`;
    fail("ShapeMismatch", name, message);
  }
}
