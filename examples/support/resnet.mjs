// The residual network of the examples.

import { nn } from "edgegrad";

const { BatchNorm2d, Conv2d, Identity, Linear, Module, Sequential } = nn;

/** Two convolutions with a skip connection. */
class Block extends Module {
  constructor(from, to, stride = 1) {
    super();
    this.conv1 = new Conv2d(from, to, 3, { stride, padding: 1, bias: false });
    this.norm1 = new BatchNorm2d(to);
    this.conv2 = new Conv2d(to, to, 3, { padding: 1, bias: false });
    this.norm2 = new BatchNorm2d(to);
    const isSame = from === to && stride === 1;
    this.around = isSame
      ? new Identity()
      : new Sequential(new Conv2d(from, to, 1, { stride, bias: false }), new BatchNorm2d(to));
  }

  forward(x) {
    const inner = this.norm1.call(this.conv1.call(x)).relu();
    return this.norm2.call(this.conv2.call(inner)).add(this.around.call(x)).relu();
  }
}

/** A small residual network for pictures of any size. */
export class ResNet extends Module {
  constructor(channels, classes) {
    super();
    this.stem = new Conv2d(channels, 16, 3, { padding: 1, bias: false });
    this.blocks = new Sequential(new Block(16, 16), new Block(16, 32, 2), new Block(32, 64, 2));
    this.head = new Linear(64, classes);
  }

  forward(images) {
    const features = this.blocks.call(this.stem.call(images));
    return this.head.call(features.mean([2, 3]));
  }
}
