// The vectors of tokens and of their positions, with the names of DistilBERT and MPNet.

import * as eg from "edgegrad";
import { Embedding } from "./linear.js";

/** The sizes of PlacedWords. */
export interface PlacedWordsSizes {
  readonly vocabulary: number;
  readonly positions: number;
  readonly hidden: number;
  readonly eps: number;
  readonly paddingIdx: number;
  /** The probability of dropout. */
  readonly dropout: number;
}

/** The sum of token and position embeddings, normalized. */
export class PlacedWords extends eg.nn.Module {
  word_embeddings: Embedding;
  position_embeddings: Embedding;
  LayerNorm: eg.nn.LayerNorm;
  private readonly share: number;

  constructor({ vocabulary, positions, hidden, eps, paddingIdx, dropout }: PlacedWordsSizes) {
    super();
    this.word_embeddings = new Embedding(vocabulary, hidden, paddingIdx);
    this.position_embeddings = new Embedding(positions, hidden);
    this.LayerNorm = new eg.nn.LayerNorm(hidden, { eps });
    this.share = dropout;
  }

  override forward(ids: eg.Tensor, positionIds: eg.Tensor): eg.Tensor {
    const sum = this.word_embeddings.call(ids).add(this.position_embeddings.call(positionIds));
    return eg.dropout(this.LayerNorm.call(sum), this.share, this.training);
  }
}
