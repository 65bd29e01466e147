// The last layer, which learns: from the features of an example to a score of each thing.

import * as eg from "edgegrad";

const kSteps = 120;
const kRate = 0.02;
const kWeightDecay = 0.05;

/** A layer that tells things apart by their features. */
export class Head extends eg.nn.Module {
  readonly names: readonly string[];
  // What the features of the lesson were on average, and how much they differed.
  readonly mean: eg.nn.Buffer;
  readonly scale: eg.nn.Buffer;
  readonly layer: eg.nn.Linear;

  private constructor(names: readonly string[], features: number) {
    super();
    this.names = names;
    this.mean = new eg.nn.Buffer(eg.zeros([features]));
    this.scale = new eg.nn.Buffer(eg.ones([features]));
    this.layer = new eg.nn.Linear(features, names.length);
  }

  override forward(features: eg.Tensor): eg.Tensor {
    return this.layer.call(features.sub(this.mean).mul(this.scale));
  }

  /** Returns a layer that has learned features [count, size] with labels, int64 [count]. */
  static learn(names: readonly string[], features: eg.Tensor, labels: eg.Tensor): Head {
    const head = new Head(names, features.shape[1] as number);
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

  /** How likely each thing is, for the features of one example, [1, size]. */
  shares(features: eg.Tensor): number[] {
    return eg.noGrad(() => Array.from(this.call(features).softmax(1).dataSync(), Number));
  }

  /** Returns the layer as a safetensors file; `format` says which page can read it. */
  toBytes(format: string): Uint8Array {
    const metadata = { format, names: JSON.stringify(this.names) };
    return eg.io.saveSafetensors(this.stateDict(), { metadata });
  }

  /** Reads a file that toBytes() has written. Throws an Error that says what is wrong with another one. */
  static fromBytes(bytes: Uint8Array, format: string): Head {
    const found = eg.io.readSafetensorsMetadata(bytes);
    if (found.format !== format || found.names === undefined) {
      throw new Error(
        "This file was not saved by this page: open the weights that it offers to take home.",
      );
    }
    const state = eg.io.loadSafetensors(bytes);
    const names = (JSON.parse(found.names) as unknown[]).map(String);
    const head = new Head(names, (state.mean as eg.Tensor).numel);
    head.loadStateDict(state);
    return head;
  }

  dispose(): void {
    for (const tensor of [...this.parameters(), ...this.buffers()]) tensor.dispose();
  }
}
