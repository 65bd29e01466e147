// A test file whose test fails while a client and a coordinator take part, for members.test.mjs.

import { test } from "node:test";
import * as eg from "edgegrad";
import { FedAvg, MemoryNetwork } from "edgegrad/federated";
import { join, serve } from "./members.mjs";
import { kNever } from "./runs.mjs";
import { makeModel, trainerOf } from "./task.mjs";

await eg.init();

test("fails", async () => {
  const run = { servers: new MemoryNetwork(), run: "failing", model: makeModel };
  const strategy = new FedAvg();
  await serve({ ...run, strategy, rounds: 1, minClients: 2, deadline: kNever });
  await join({ ...run, train: trainerOf(0) });
  throw new Error("as it should");
});
