// No framework: the training is in a worker, which Comlink calls. Errors keep their code by errorFrom().

import * as Comlink from "comlink";
import { errorFrom } from "edgegrad";

export function mount(target) {
  const worker = new Worker(new URL("./comlink_worker.js", import.meta.url), { type: "module" });
  const training = Comlink.wrap(worker);
  const [button, output] = ["button", "output"].map((name) => document.createElement(name));
  target.append(button, output);
  button.textContent = "Train";
  button.onclick = async () => {
    try {
      const onLoss = (loss) => {
        output.textContent = loss.toFixed(4);
      };
      await training.run(Comlink.proxy(onLoss));
    } catch (error) {
      output.textContent = errorFrom(error).code;
    }
  };
  return async () => {
    target.replaceChildren();
    await training.end();
    worker.terminate();
  };
}
