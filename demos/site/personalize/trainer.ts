// The worker of the page: the frozen backbone, and the last layer that learns.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { Learner } from "../shared/last_layer/learner.js";
import type { Learned, Lesson } from "../shared/last_layer/messages.js";
import { startEngine } from "../shared/trainer.js";
import { Backbone, kSide } from "./backbone/model.mjs";
import weightsUrl from "./backbone/weights.safetensors?url";
import { type Pixels, tensorOf, variantsOf } from "./variants.js";

// Pictures whose features are computed at once.
const kAtOnce = 64;

class Personalizer {
  #backbone: Backbone | null = null;
  readonly #learner = new Learner<Pixels>({
    format: "edgegrad.personalize/1",
    features: (picture) => this.#started().call(tensorOf([picture])),
    featuresOfVariants: (pictures) => {
      const parts = variantsOf(tensorOf(pictures)).split(kAtOnce);
      return eg.cat(
        parts.map((part) => this.#started().call(part)),
        0,
      );
    },
  });

  async start(): Promise<eg.RuntimeInfo> {
    const runtime = await startEngine("cpu");
    const answer = await fetch(weightsUrl);
    if (!answer.ok)
      throw new Error(`the weights: the server answered with status ${answer.status}`);
    const weights = eg.io.loadSafetensors(new Uint8Array(await answer.arrayBuffer()));
    const backbone = new Backbone();
    // They are stored in half precision.
    backbone.loadStateDict(weights);
    this.#backbone = backbone.eval();
    return runtime;
  }

  learn(lesson: Lesson<Pixels>): Learned {
    return this.#learner.learn(lesson);
  }

  predict(picture: Pixels): number[] | null {
    return this.#learner.predict(picture);
  }

  save(): Uint8Array {
    return this.#learner.save();
  }

  open(bytes: Uint8Array): readonly string[] {
    return this.#learner.open(bytes);
  }

  /** The backbone and what has been learned, as an ONNX file of pictures float32 [1, 3, 64, 64] from 0 to 1. */
  async onnx(): Promise<Uint8Array> {
    const [backbone, { head }] = [this.#started(), this.#learner];
    const { save } = await import("edgegrad/onnx");
    const input = eg.zeros([1, 3, kSide, kSide]);
    try {
      return await save((pictures: eg.Tensor) => head.call(backbone.call(pictures)).softmax(1), {
        inputs: [input],
        inputNames: ["pictures"],
        outputNames: ["shares"],
        metadata: { names: JSON.stringify(head.names) },
      });
    } finally {
      input.dispose();
    }
  }

  #started(): Backbone {
    if (this.#backbone === null) throw new Error("call start() first");
    return this.#backbone;
  }
}

export type { Personalizer };

expose(new Personalizer());
