// The same program in a thread created by the user.

import { once } from "node:events";
import { Worker } from "node:worker_threads";

const worker = new Worker(new URL("./module.mjs", import.meta.url));
await once(worker, "exit");
