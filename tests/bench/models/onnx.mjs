// Networks for inference, which are saved as ONNX files: their weights are random, because time does not depend on them.

import * as eg from "edgegrad";
import { block, resnet18, UNet } from "./networks.mjs";
import { kOnnxNames } from "./onnx_names.mjs";

const { nn } = eg;

/** Squeeze and excitation: one factor per channel. */
class Excitation extends nn.Module {
  constructor(channels) {
    super();
    const inner = Math.max(8, Math.round(channels / 4 / 8) * 8);
    this.factors = new nn.Sequential(
      new nn.AdaptiveAvgPool2d(1),
      new nn.Conv2d(channels, inner, 1),
      new nn.ReLU(),
      new nn.Conv2d(inner, channels, 1),
      new nn.Hardsigmoid(),
    );
  }

  forward(x) {
    return x.mul(this.factors.call(x));
  }
}

class InvertedResidual extends nn.Module {
  constructor(inputs, [kernel, inner, outputs, isExcited, activation, stride]) {
    super();
    const layers = [
      block(inner, inner, kernel, { stride, groups: inner, activation }),
      ...(isExcited ? [new Excitation(inner)] : []),
      block(inner, outputs, 1),
    ];
    if (inner !== inputs) layers.unshift(block(inputs, inner, 1, { activation }));
    this.layers = new nn.Sequential(...layers);
    this.isResidual = stride === 1 && inputs === outputs;
  }

  forward(x) {
    const y = this.layers.call(x);
    return this.isResidual ? x.add(y) : y;
  }
}

function mobileNetV3Small() {
  const [R, H] = [nn.ReLU, nn.Hardswish];
  const stages = [
    [3, 16, 16, true, R, 2],
    [3, 72, 24, false, R, 2],
    [3, 88, 24, false, R, 1],
    [5, 96, 40, true, H, 2],
    [5, 240, 40, true, H, 1],
    [5, 240, 40, true, H, 1],
    [5, 120, 48, true, H, 1],
    [5, 144, 48, true, H, 1],
    [5, 288, 96, true, H, 2],
    [5, 576, 96, true, H, 1],
    [5, 576, 96, true, H, 1],
  ];
  return new nn.Sequential(
    block(3, 16, 3, { stride: 2, activation: H }),
    ...stages.map((stage, i) => new InvertedResidual(i === 0 ? 16 : stages[i - 1][2], stage)),
    block(96, 576, 1, { activation: H }),
    new nn.AdaptiveAvgPool2d(1),
    new nn.Flatten(),
    new nn.Linear(576, 1024),
    new nn.Hardswish(),
    new nn.Linear(1024, 1000),
  );
}

const kWidth = 768;
const kHeads = 12;

class BertLayer extends nn.Module {
  constructor() {
    super();
    const square = () => new nn.Linear(kWidth, kWidth);
    Object.assign(this, { query: square(), key: square(), value: square(), output: square() });
    this.first = new nn.LayerNorm(kWidth);
    this.inner = new nn.Sequential(
      new nn.Linear(kWidth, 4 * kWidth),
      new nn.GELU(),
      new nn.Linear(4 * kWidth, kWidth),
    );
    this.second = new nn.LayerNorm(kWidth);
  }

  forward(x) {
    const [batch, length] = x.shape;
    const heads = (layer) =>
      layer
        .call(x)
        .view([batch, length, kHeads, kWidth / kHeads])
        .permute([0, 2, 1, 3]);
    const [q, k, v] = [heads(this.query), heads(this.key), heads(this.value)];
    const scores = eg.matmul(q, k.transpose(-1, -2)).div(Math.sqrt(kWidth / kHeads));
    const mixed = eg.matmul(eg.softmax(scores, -1), v).permute([0, 2, 1, 3]);
    const y = this.first.call(x.add(this.output.call(mixed.reshape([batch, length, kWidth]))));
    return this.second.call(y.add(this.inner.call(y)));
  }
}

class Bert extends nn.Module {
  constructor(layers) {
    super();
    this.words = new nn.Embedding(4096, kWidth);
    this.positions = new nn.Parameter(eg.randn([128, kWidth]));
    this.norm = new nn.LayerNorm(kWidth);
    this.layers = new nn.Sequential(...Array.from({ length: layers }, () => new BertLayer()));
  }

  forward(ids) {
    return this.layers.call(this.norm.call(this.words.call(ids).add(this.positions)));
  }
}

const resnet = () =>
  resnet18(
    [
      block(3, 64, 7, { stride: 2, activation: nn.ReLU }),
      new nn.MaxPool2d(3, { stride: 2, padding: 1 }),
    ],
    64,
    1000,
  );

const image = (size) => () => eg.randn([1, 3, size, size]);

/** The networks by name: how each is made, and an input. */
export const kOnnxModels = {
  [kOnnxNames.resnet]: { make: resnet, input: image(224) },
  [kOnnxNames.mobileNet]: { make: mobileNetV3Small, input: image(224) },
  [kOnnxNames.bert]: {
    make: () => new Bert(6),
    input: () => eg.randint(0, 4096, [1, 128]),
  },
  [kOnnxNames.unet]: { make: () => new UNet([32, 64, 128, 256]), input: image(128) },
};
