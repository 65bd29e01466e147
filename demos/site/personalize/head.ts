// The last layer, which learns: from the features of a picture to a score of each thing.

import * as eg from "edgegrad";
import { kFeatures } from "./backbone/model.mjs";

const kSteps = 120;
const kRate = 0.02;
const kWeightDecay = 0.05;
const kFormat = "edgegrad.personalize/1";

/** A layer that tells things apart by their features. */
export class Head extends eg.nn.Module {
  readonly names: readonly string[];
  // What the features of the lesson were on average, and how much they differed.
  readonly mean = new eg.nn.Buffer(eg.zeros([kFeatures]));
  readonly scale = new eg.nn.Buffer(eg.ones([kFeatures]));
  readonly layer: eg.nn.Linear;

  private constructor(names: readonly string[]) {
    super();
    this.names = names;
    this.layer = new eg.nn.Linear(kFeatures, names.length);
  }

  override forward(features: eg.Tensor): eg.Tensor {
    return this.layer.call(features.sub(this.mean).mul(this.scale));
  }

  /** Returns a layer that has learned features [count, 192] with labels, int64 [count]. */
  static learn(names: readonly string[], features: eg.Tensor, labels: eg.Tensor): Head {
    const head = new Head(names);
    eg.noGrad(() => {
      head.mean.copy_(features.mean(0));
      head.scale.copy_(features.std(0).add(1e-3).reciprocal());
    });
    const optimizer = new eg.optim.AdamW(head.parameters(), {
      lr: kRate,
      weightDecay: kWeightDecay,
    });
    for (let step = 0; step < kSteps; step++) {
      eg.scope(() => {
        optimizer.zeroGrad();
        eg.crossEntropy(head.call(features), labels, { labelSmoothing: 0.05 }).backward();
        optimizer.step();
      });
    }
    return head;
  }

  /** Returns the layer as a safetensors file. */
  toBytes(): Uint8Array {
    const metadata = { format: kFormat, names: JSON.stringify(this.names) };
    return eg.io.saveSafetensors(this.stateDict(), { metadata });
  }

  /** Reads a file that toBytes() has written. Throws an Error that says what is wrong with another one. */
  static fromBytes(bytes: Uint8Array): Head {
    const { format, names } = eg.io.readSafetensorsMetadata(bytes);
    if (format !== kFormat || names === undefined) {
      throw new Error(
        "This file was not saved by this page: open the weights that it offers to take home.",
      );
    }
    const head = new Head((JSON.parse(names) as unknown[]).map(String));
    head.loadStateDict(eg.io.loadSafetensors(bytes));
    return head;
  }

  dispose(): void {
    for (const tensor of [...this.parameters(), ...this.buffers()]) tensor.dispose();
  }
}
