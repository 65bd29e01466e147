// Vue: models may be in ref() and reactive(), which leave them as they are. In TypeScript use shallowRef(), whose type leaves them, too.

import { createApp, h, onBeforeUnmount, ref, shallowRef } from "vue";
import { startTraining } from "./training.js";

const Trainer = {
  setup() {
    const training = shallowRef(null);
    const loss = ref(null);
    const leaving = new AbortController();
    const started = startTraining();
    started.then((one) => {
      training.value = one;
    });
    onBeforeUnmount(() => {
      leaving.abort();
      started.then((one) => one.dispose());
    });
    const onLoss = (value) => {
      loss.value = value;
    };
    const train = () => training.value.run({ signal: leaving.signal, onLoss });
    return () =>
      h("main", [
        h("button", { disabled: training.value === null, onClick: train }, "Train"),
        h("output", loss.value?.toFixed(4)),
      ]);
  },
};

export function mount(target) {
  const app = createApp(Trainer);
  app.mount(target);
  return () => app.unmount();
}
