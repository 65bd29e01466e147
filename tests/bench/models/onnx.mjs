// Networks for inference, which are saved as ONNX files: their weights are random, because time does not depend on them.

import * as eg from "edgegrad";
import { kOnnxNames } from "./onnx_names.mjs";

const { nn } = eg;

const normalized = (convolution) => [convolution, new nn.BatchNorm2d(convolution.outChannels)];

/** A convolution that keeps sizes, with batch normalization and an activation. */
function block(inputs, outputs, kernel, { stride = 1, groups = 1, activation } = {}) {
  const options = { stride, groups, padding: (kernel - 1) / 2, bias: false };
  const layers = normalized(new nn.Conv2d(inputs, outputs, kernel, options));
  return new nn.Sequential(...layers, ...(activation ? [new activation()] : []));
}

class BasicBlock extends nn.Module {
  constructor(inputs, outputs, stride) {
    super();
    this.first = block(inputs, outputs, 3, { stride, activation: nn.ReLU });
    this.second = block(outputs, outputs, 3);
    const isSame = stride === 1 && inputs === outputs;
    this.shortcut = isSame ? new nn.Identity() : block(inputs, outputs, 1, { stride });
  }

  forward(x) {
    return eg.relu(this.second.call(this.first.call(x)).add(this.shortcut.call(x)));
  }
}

function resnet18() {
  const stages = [64, 128, 256, 512].flatMap((outputs, i) => [
    new BasicBlock(i === 0 ? 64 : outputs / 2, outputs, i === 0 ? 1 : 2),
    new BasicBlock(outputs, outputs, 1),
  ]);
  return new nn.Sequential(
    block(3, 64, 7, { stride: 2, activation: nn.ReLU }),
    new nn.MaxPool2d(3, { stride: 2, padding: 1 }),
    ...stages,
    new nn.AdaptiveAvgPool2d(1),
    new nn.Flatten(),
    new nn.Linear(512, 1000),
  );
}

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

const twice = (inputs, outputs) =>
  new nn.Sequential(
    block(inputs, outputs, 3, { activation: nn.ReLU }),
    block(outputs, outputs, 3, { activation: nn.ReLU }),
  );

class UNet extends nn.Module {
  constructor(widths = [32, 64, 128, 256]) {
    super();
    const around = widths.slice(1).map((width, i) => [widths[i], width]);
    this.first = twice(3, widths[0]);
    this.pool = new nn.MaxPool2d(2);
    this.down = new nn.ModuleList(around.map(([outer, inner]) => twice(outer, inner)));
    this.up = new nn.ModuleList(
      around.map(([outer, inner]) => new nn.ConvTranspose2d(inner, outer, 2, { stride: 2 })),
    );
    this.joined = new nn.ModuleList(around.map(([outer]) => twice(2 * outer, outer)));
    this.last = new nn.Conv2d(widths[0], 2, 1);
  }

  forward(x) {
    const kept = [this.first.call(x)];
    for (const layer of this.down) kept.push(layer.call(this.pool.call(kept.at(-1))));
    let y = kept.pop();
    for (let i = kept.length - 1; i >= 0; i--) {
      y = this.joined.at(i).call(eg.cat([kept[i], this.up.at(i).call(y)], 1));
    }
    return this.last.call(y);
  }
}

const image = (size) => () => eg.randn([1, 3, size, size]);

/** The networks by name: how each is made, and an input. */
export const kOnnxModels = {
  [kOnnxNames.resnet]: { make: resnet18, input: image(224) },
  [kOnnxNames.mobileNet]: { make: mobileNetV3Small, input: image(224) },
  [kOnnxNames.bert]: {
    make: () => new Bert(6),
    input: () => eg.randint(0, 4096, [1, 128]),
  },
  [kOnnxNames.unet]: { make: () => new UNet(), input: image(128) },
};
