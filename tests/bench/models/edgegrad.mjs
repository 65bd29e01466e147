// The models in this package: start(layers) creates a module, inputs(batch) the input tensors.

import * as eg from "edgegrad";
import { kPixels } from "../data.mjs";

const { nn } = eg;

/** Replaces the initial parameters of a layer. */
function withValues(layer, { weight, bias }) {
  eg.noGrad(() => {
    layer.weight.copy_(eg.tensor(weight).view(layer.weight.shape));
    if (bias) layer.bias.copy_(eg.tensor(bias));
  });
  return layer;
}

const dense = (layer) => withValues(new nn.Linear(layer.inputs, layer.outputs), layer);
const targets = (labels) => eg.tensor(BigInt64Array.from(labels, BigInt));

const mlp = {
  start: (layers) =>
    new nn.Sequential(
      ...layers.flatMap((layer, i) =>
        i + 1 < layers.length ? [dense(layer), new nn.ReLU()] : [dense(layer)],
      ),
    ),
  inputs: ({ x, labels }) => ({
    x: eg.tensor(x).view([labels.length, kPixels]),
    y: targets(labels),
  }),
};

const cnn = {
  start: ({ convolutions, padding, head }) =>
    new nn.Sequential(
      ...convolutions.flatMap((layer) => {
        const [outputs, inputs, size] = layer.shape;
        const convolution = withValues(new nn.Conv2d(inputs, outputs, size, { padding }), layer);
        return [convolution, new nn.ReLU(), new nn.MaxPool2d(2)];
      }),
      new nn.Flatten(),
      dense(head),
    ),
  inputs: ({ x, labels }) => ({
    x: eg.tensor(x).view([labels.length, 1, 28, 28]),
    y: targets(labels),
  }),
};

class Block extends nn.Module {
  constructor({ qkv, projection, up, down }, heads) {
    super();
    this.heads = heads;
    this.norm1 = new nn.LayerNorm(qkv.inputs);
    this.qkv = dense(qkv);
    this.projection = dense(projection);
    this.norm2 = new nn.LayerNorm(up.inputs);
    this.up = dense(up);
    this.down = dense(down);
  }

  forward(x) {
    const attended = x.add(this.attend(this.norm1.call(x)));
    const hidden = eg.gelu(this.up.call(this.norm2.call(attended)), { approximate: "tanh" });
    return attended.add(this.down.call(hidden));
  }

  attend(x) {
    const [batch, context, width] = x.shape;
    const all = this.qkv.call(x).view([batch, context, 3, this.heads, width / this.heads]);
    const [query, key, value] = all.permute([2, 0, 3, 1, 4]).unbind(0);
    const mixed = eg.scaledDotProductAttention(query, key, value, { isCausal: true });
    return this.projection.call(mixed.transpose(1, 2).reshape([batch, context, width]));
  }
}

class Gpt extends nn.Module {
  constructor({ tokens, positions, blocks, heads, head }) {
    super();
    this.tokens = withValues(new nn.Embedding(...tokens.shape), tokens);
    this.positions = withValues(new nn.Embedding(...positions.shape), positions);
    this.blocks = new nn.ModuleList(blocks.map((block) => new Block(block, heads)));
    this.norm = new nn.LayerNorm(head.inputs);
    this.head = dense(head);
  }

  forward(x) {
    let value = this.tokens.call(x).add(this.positions.weight);
    for (const block of this.blocks) value = block.call(value);
    return this.head.call(this.norm.call(value)).flatten(0, 1);
  }
}

const gpt = {
  start: (layers) => new Gpt(layers),
  inputs: ({ x, labels, context }) => ({
    x: targets(x).view([-1, context]),
    y: targets(labels),
  }),
};

export const kModels = { mlp, cnn, gpt };
