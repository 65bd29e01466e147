// Networks of convolutions, which are counted on WebGPU (gpu/steps.mjs) and saved as ONNX files (onnx.mjs).

import * as eg from "edgegrad";

const { nn } = eg;

/** A convolution that keeps sizes, with batch normalization and an activation. */
export function block(inputs, outputs, kernel, { stride = 1, groups = 1, activation } = {}) {
  const options = { stride, groups, padding: (kernel - 1) / 2, bias: false };
  return new nn.Sequential(
    new nn.Conv2d(inputs, outputs, kernel, options),
    new nn.BatchNorm2d(outputs),
    ...(activation ? [new activation()] : []),
  );
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

/** A ResNet18 after `stem`, the layers that make `width` channels. */
export function resnet18(stem, width, classes) {
  const stages = [1, 2, 2, 2].flatMap((stride, i) => [
    new BasicBlock(width << Math.max(0, i - 1), width << i, stride),
    new BasicBlock(width << i, width << i, 1),
  ]);
  return new nn.Sequential(
    ...stem,
    ...stages,
    new nn.AdaptiveAvgPool2d(1),
    new nn.Flatten(),
    new nn.Linear(8 * width, classes),
  );
}

const twice = (inputs, outputs) =>
  new nn.Sequential(
    block(inputs, outputs, 3, { activation: nn.ReLU }),
    block(outputs, outputs, 3, { activation: nn.ReLU }),
  );

/** A U-Net of two classes, with these channels from the outermost level to the innermost one. */
export class UNet extends nn.Module {
  constructor(widths) {
    super();
    const around = widths.slice(1).map((width, i) => [widths[i], width]);
    this.first = twice(3, widths[0]);
    this.pool = new nn.MaxPool2d(2);
    this.down = new nn.ModuleList(around.map(([outer, inner]) => twice(outer, inner)));
    this.up = new nn.ModuleList(
      around.map(([outer, inner]) => new nn.ConvTranspose2d(inner, outer, 2, { stride: 2 })),
    );
    this.merge = new nn.ModuleList(around.map(([outer]) => twice(2 * outer, outer)));
    this.last = new nn.Conv2d(widths[0], 2, 1);
  }

  forward(x) {
    const kept = [this.first.call(x)];
    for (const layer of this.down) kept.push(layer.call(this.pool.call(kept.at(-1))));
    let y = kept.pop();
    for (let i = kept.length - 1; i >= 0; i--) {
      y = this.merge.at(i).call(eg.cat([kept[i], this.up.at(i).call(y)], 1));
    }
    return this.last.call(y);
  }
}
