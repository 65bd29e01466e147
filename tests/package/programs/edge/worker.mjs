// A worker for the edge: trains, saves and loads, and keeps nothing. workerd calls test().

import * as eg from "edgegrad";
import { train } from "../train.js";

// Cloudflare ends a worker that takes 128 MB.
const kMaximum = 96 * 2 ** 20;
const kPart = 2 ** 20;

// Fills the memory, which must end in an error and not in the end of the worker.
function fill() {
  return eg.scope(() => {
    for (let filled = 0; ; filled += kPart) {
      try {
        eg.zeros([kPart], { dtype: "uint8" });
      } catch ({ code }) {
        return { filled, code };
      }
    }
  });
}

export async function result() {
  await eg.init({ memory: { maximum: kMaximum } });
  const losses = eg.scope(train);
  const model = new eg.nn.Linear(4, 2);
  const bytes = eg.io.saveSafetensors(model.stateDict());
  const copy = new eg.nn.Linear(4, 2);
  copy.loadStateDict(eg.io.loadSafetensors(bytes));
  const x = eg.ones([1, 4], { requiresGrad: true });
  await copy.call(x).sub(model.call(x)).sum().backwardAsync();
  const isSame = copy.weight.equal(model.weight);
  const { variant, threads } = eg.runtime();
  const { filled, code } = fill();
  const hasFinalizers = typeof FinalizationRegistry === "function";
  return { losses, isSame, variant, threads, filled, code, hasFinalizers };
}

export default {
  async test() {
    console.log(JSON.stringify(await result()));
  },
};
