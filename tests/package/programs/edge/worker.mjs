// A worker for the edge: trains, saves and loads, and keeps nothing. workerd calls test().

import * as eg from "edgegrad";
import { train } from "../train.js";

export async function result() {
  await eg.init();
  const losses = eg.scope(train);
  const model = new eg.nn.Linear(4, 2);
  const bytes = eg.io.saveSafetensors(model.stateDict());
  const copy = new eg.nn.Linear(4, 2);
  copy.loadStateDict(eg.io.loadSafetensors(bytes));
  const x = eg.ones([1, 4], { requiresGrad: true });
  await copy.call(x).sub(model.call(x)).sum().backwardAsync();
  const isSame = copy.weight.equal(model.weight);
  const { variant, threads } = eg.runtime();
  const hasFinalizers = typeof FinalizationRegistry === "function";
  return { losses, isSame, variant, threads, hasFinalizers };
}

export default {
  async test() {
    console.log(JSON.stringify(await result()));
  },
};
