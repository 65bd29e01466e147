// A small GPT: a transformer that predicts the next character.

import * as eg from "edgegrad";

const { Embedding, GELU, LayerNorm, Linear, Module, ModuleList, Sequential } = eg.nn;

// PyTorch's default is ten times as large, with which training is slower.
const kEmbeddingDeviation = 0.1;

/** The sizes that the demos offer, and the number of windows per step. */
export const kSizes = {
  tiny: { context: 64, width: 64, heads: 4, blocks: 2, batch: 16, lr: 5e-3 },
  small: { context: 128, width: 128, heads: 4, blocks: 4, batch: 8, lr: 3e-3 },
};

/** @typedef {keyof typeof kSizes} Size */

/** Maps tokens [batch, length] to scores of the next character, [batch, length, characters]. */
export class Gpt extends Module {
  /**
   * @param {number} characters
   * @param {{ context: number, width: number, heads: number, blocks: number }} size
   */
  constructor(characters, { context, width, heads, blocks }) {
    super();
    this.tokens = new Embedding(characters, width);
    this.positions = new Embedding(context, width);
    this.blocks = new ModuleList(Array.from({ length: blocks }, () => new Block(width, heads)));
    this.norm = new LayerNorm(width);
    this.head = new Linear(width, characters, { bias: false });
    for (const { weight } of [this.tokens, this.positions]) {
      eg.nn.init.normal_(weight, { std: kEmbeddingDeviation });
    }
  }

  /**
   * @override
   * @param {eg.Tensor} tokens
   */
  forward(tokens) {
    const [, length = 0] = tokens.shape;
    let x = this.tokens.call(tokens).add(this.positions.weight.narrow(0, 0, length));
    for (const block of this.blocks) x = block.call(x);
    return this.head.call(this.norm.call(x));
  }
}

class Block extends Module {
  /**
   * @param {number} width
   * @param {number} heads
   */
  constructor(width, heads) {
    super();
    this.heads = heads;
    this.norm1 = new LayerNorm(width);
    this.qkv = new Linear(width, 3 * width);
    this.projection = new Linear(width, width);
    this.norm2 = new LayerNorm(width);
    this.mlp = new Sequential(
      new Linear(width, 4 * width),
      new GELU({ approximate: "tanh" }),
      new Linear(4 * width, width),
    );
  }

  /**
   * @override
   * @param {eg.Tensor} x
   */
  forward(x) {
    const attended = x.add(this.attend(this.norm1.call(x)));
    return attended.add(this.mlp.call(this.norm2.call(attended)));
  }

  /** @param {eg.Tensor} x [batch, length, width] */
  attend(x) {
    const split = this.qkv.call(x).unflatten(2, [3, this.heads, -1]);
    const [query, key, value] = split.permute([2, 0, 3, 1, 4]).unbind(0);
    const mixed = eg.scaledDotProductAttention(query, key, value, { isCausal: true });
    return this.projection.call(mixed.transpose(1, 2).flatten(2));
  }
}
