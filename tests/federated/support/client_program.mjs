// A client in a process of its own, to be killed. Its argument is JSON: { servers, run, client, name, pause }. It writes a line when it has
// joined.

import * as eg from "edgegrad";
import { join } from "edgegrad/federated";
import { makeModel, trainerOf } from "./task.mjs";

const { client, pause, ...options } = JSON.parse(process.argv[2]);

await eg.init({ threads: 1 });
const train = trainerOf(client);
const joined = await join({
  ...options,
  model: makeModel,
  train: async (input) => {
    await new Promise((resolve) => setTimeout(resolve, pause));
    return train(input);
  },
});
process.stdout.write(`${JSON.stringify({ joined: true })}\n`);
await joined.finished;
