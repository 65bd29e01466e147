// The worker of the page: spectrograms, and the layer that learns.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { Learner } from "../shared/last_layer/learner.js";
import type { Learned, Lesson } from "../shared/last_layer/messages.js";
import { startEngine } from "../shared/trainer.js";
import { Ear, kFloor, tensorOf, variantsOf } from "./features.js";
import type { Samples } from "./sound.js";

// The loudness of nothing, and of a loud tone.
const [kQuiet, kLoud] = [Math.log(kFloor), 8];

class SoundLearner {
  #ear: Ear | null = null;
  readonly #learner = new Learner<Samples>({
    format: "edgegrad.sounds/1",
    features: (sound) => this.#started().call(tensorOf([sound])),
    featuresOfVariants: (sounds) => this.#started().call(variantsOf(tensorOf(sounds))),
  });

  async start(): Promise<eg.RuntimeInfo> {
    const runtime = await startEngine("cpu");
    this.#ear = eg.scope(() => {
      const ear = new Ear();
      for (const buffer of ear.buffers()) eg.keep(buffer);
      return ear;
    });
    return runtime;
  }

  /** The loudness of each of 40 bands at each of 41 moments, from 0 to 1. */
  spectrogram(sound: Samples): Float32Array {
    return eg.scope(() =>
      eg.noGrad(() => {
        const loudness = this.#started().spectrogram(tensorOf([sound]));
        return Float32Array.from(
          loudness
            .sub(kQuiet)
            .div(kLoud - kQuiet)
            .clamp(0, 1)
            .dataSync(),
          Number,
        );
      }),
    );
  }

  learn(lesson: Lesson<Samples>): Learned {
    return this.#learner.learn(lesson);
  }

  predict(sound: Samples): number[] | null {
    return this.#learner.predict(sound);
  }

  save(): Uint8Array {
    return this.#learner.save();
  }

  open(bytes: Uint8Array): readonly string[] {
    return this.#learner.open(bytes);
  }

  #started(): Ear {
    if (this.#ear === null) throw new Error("call start() first");
    return this.#ear;
  }
}

export type { SoundLearner };

expose(new SoundLearner());
