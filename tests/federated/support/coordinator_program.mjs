// A coordinator in a process of its own, to be killed. Its argument is JSON: { servers, run, rounds, minClients, deadline, lease, seed }.
// It writes lines of JSON: { ready }, { event } for each event, { round } after each round, and at the end { history, weights }.

import * as eg from "edgegrad";
import { FedAvg, serve } from "edgegrad/federated";
import { makeModel, numbersOf } from "./task.mjs";

const options = JSON.parse(process.argv[2]);
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

await eg.init({ threads: 1 });
const coordinator = await serve({
  ...options,
  model: makeModel,
  strategy: new FedAvg(),
  onEvent: ({ type, message }) => tell({ event: type, message }),
  onRound: ({ round }) => tell({ round }),
});
tell({ ready: true });
const history = await coordinator.finished;
tell({ history, weights: numbersOf(coordinator.stateDict()) });
