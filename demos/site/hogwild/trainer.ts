// The main worker of the page, which starts the workers that train.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { Hogwild } from "./comparison.js";

const workers: Worker[] = [];

expose(
  new Hogwild((i, ...given) => {
    workers[i] ??= new Worker(new URL("./hogwild_worker.ts", import.meta.url), { type: "module" });
    return eg.spawn(workers[i], "train", ...given);
  }),
);
