// The backbone: a small convolutional network that turns a picture into features, by which pictures are told apart.

import * as eg from "edgegrad";

const { BatchNorm2d, Conv2d, Module, ReLU, Sequential } = eg.nn;

/** The width and height of pictures, in pixels. */
export const kSide = 64;

const kWidths = [16, 32, 64, 128];

/** The number of features of a picture: the means of the channels of the last two stages. */
export const kFeatures = 64 + 128;

/** Maps pictures, float32 [count, 3, 64, 64] from 0 to 1, to features [count, 192]. */
export class Backbone extends Module {
  constructor() {
    super();
    const [first, second, third, fourth] = kWidths;
    this.stem = block(3, first, 2);
    this.stage2 = new Sequential(block(first, second, 2), block(second, second, 1));
    this.stage3 = new Sequential(block(second, third, 2), block(third, third, 1));
    this.stage4 = new Sequential(block(third, fourth, 2), block(fourth, fourth, 1));
  }

  /**
   * @override
   * @param {eg.Tensor} pictures
   */
  forward(pictures) {
    const centered = pictures.sub(0.5).mul(4);
    const third = this.stage3.call(this.stage2.call(this.stem.call(centered)));
    const fourth = this.stage4.call(third);
    return eg.cat([third.mean([2, 3]), fourth.mean([2, 3])], 1);
  }
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} stride
 */
function block(from, to, stride) {
  return new Sequential(
    new Conv2d(from, to, 3, { stride, padding: 1, bias: false }),
    new BatchNorm2d(to),
    new ReLU(),
  );
}
