// The worker of own_worker.js.

import * as eg from "edgegrad";
import { train } from "./train.js";

async function run() {
  await eg.init({ threads: 2 });
  return { losses: train(), runtime: eg.runtime() };
}

run().then(postMessage, (error) => postMessage({ error: `${error.code}: ${error.stack}` }));
