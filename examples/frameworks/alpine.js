// Alpine: the training may be a property of the data, which is Vue's reactivity.

import Alpine from "alpinejs";
import { startTraining } from "./training.js";

Alpine.data("trainer", () => ({
  training: null,
  loss: null,
  leaving: new AbortController(),
  async init() {
    this.training = await startTraining();
  },
  train() {
    const onLoss = (loss) => {
      this.loss = loss;
    };
    return this.training.run({ signal: this.leaving.signal, onLoss });
  },
  destroy() {
    this.leaving.abort();
    this.training.dispose();
  },
}));

export function mount(target) {
  target.innerHTML = `<main x-data="trainer">
    <button :disabled="training === null" @click="train">Train</button>
    <output x-text="loss?.toFixed(4)"></output>
  </main>`;
  Alpine.start();
  return () => target.replaceChildren();
}
