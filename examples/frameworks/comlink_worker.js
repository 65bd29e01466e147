// The worker of comlink.js, which has an engine of its own.

import * as Comlink from "comlink";
import * as eg from "edgegrad";
import { startTraining } from "./training.js";

const leaving = new AbortController();
const started = startTraining();

Comlink.expose({
  async run(onLoss) {
    await (await started).run({ signal: leaving.signal, onLoss });
  },
  async end() {
    leaving.abort();
    await (await started).dispose();
    await eg.shutdown();
  },
});
