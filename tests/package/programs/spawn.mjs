// Trains in this thread, and has a worker created by the user train in the memory of this thread: one of Node.js, or with
// the argument "global" one that is constructed as in a page.

import * as eg from "edgegrad";
import { train } from "./train.js";

await eg.init({ threads: 2 });
const isGlobal = process.argv.includes("global");
const { Worker } = isGlobal ? globalThis : await import("node:worker_threads");
const worker = new Worker(new URL("./deployed_worker.js", import.meta.url), { type: "module" });
const weights = eg.ones([4], { requiresGrad: true });
await eg.spawn(worker, "train", weights, 20);
worker.terminate();
console.log(JSON.stringify({ losses: train(), weights: weights.arraySync() }));
