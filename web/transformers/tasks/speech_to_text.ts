// Models that write down speech: an encoder of recordings, and a decoder of texts with a head.

import * as eg from "edgegrad";
import type { CrossSource } from "../blocks/cross.js";
import { type Embedding, Linear, type Projection } from "../blocks/linear.js";
import type { Config } from "../config/config.js";
import { type DecodeOptions, lastIfAsked, Seq2SeqModel } from "./seq2seq.js";

/** The decoder of such a model. */
interface SpeechDecoder extends eg.nn.Module {
  readonly embed_tokens: Embedding;
  forward(ids: eg.Tensor, source: CrossSource, rest: DecodeOptions): eg.Tensor;
}

/** Creates an encoder or a decoder. */
type Maker<M> = new (config: Config) => M;

/** Returns the class of an encoder and a decoder under the names of files. */
export function towers<E extends eg.nn.Module, D extends SpeechDecoder>(
  Encoder: Maker<E>,
  Decoder: Maker<D>,
): Maker<eg.nn.Module & { encoder: E; decoder: D }> {
  return class extends eg.nn.Module {
    encoder: E;
    decoder: D;

    constructor(config: Config) {
      super();
      this.encoder = new Encoder(config);
      this.decoder = new Decoder(config);
    }
  };
}

type Towers = eg.nn.Module & { readonly decoder: SpeechDecoder };

/** A model of such towers with a head, which may be tied to the embeddings of the decoder. */
export abstract class SpeechToTextModel<T extends Towers> extends Seq2SeqModel {
  model: T;
  proj_out: Projection;

  constructor(config: Config, Model: Maker<T>) {
    super();
    config.only("is_encoder_decoder", true);
    this.model = new Model(config);
    const { embed_tokens } = this.model.decoder;
    const head = new Linear(embed_tokens.embeddingDim, embed_tokens.numEmbeddings, false);
    this.proj_out = head;
    if (!config.flag("tie_word_embeddings", true)) return;
    head.weight = embed_tokens.weight;
    this.tieHead("proj_out.weight", "model.decoder.embed_tokens.weight");
  }

  protected override decode(ids: eg.Tensor, source: CrossSource, rest: DecodeOptions): eg.Tensor {
    return this.proj_out.call(lastIfAsked(this.model.decoder.call(ids, source, rest), rest));
  }
}
