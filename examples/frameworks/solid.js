// Solid: a signal holds the training as it is. A setter calls a function that it is given, and a model is none.

import { createResource, createSignal, onCleanup } from "solid-js";
import html from "solid-js/html";
import { render } from "solid-js/web";
import { startTraining } from "./training.js";

function Trainer() {
  const started = startTraining();
  const [training] = createResource(() => started);
  const [loss, setLoss] = createSignal(null);
  const leaving = new AbortController();
  onCleanup(() => {
    leaving.abort();
    started.then((one) => one.dispose());
  });
  const train = () => training().run({ signal: leaving.signal, onLoss: setLoss });
  return html`<main>
    <button disabled=${() => training() === undefined} onClick=${train}>Train</button>
    <output>${() => loss()?.toFixed(4)}</output>
  </main>`;
}

export function mount(target) {
  return render(Trainer, target);
}
