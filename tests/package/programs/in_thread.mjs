// The same in a thread of the user's own.

import { once } from "node:events";
import { Worker } from "node:worker_threads";

const worker = new Worker(new URL("./module.mjs", import.meta.url));
await once(worker, "exit");
