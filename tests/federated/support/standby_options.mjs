// A module for edgegrad-federated: the run of a test that has begun it.

import { FedAvg } from "edgegrad/federated";
import { kNever } from "./runs.mjs";
import { makeModel } from "./task.mjs";

export default {
  run: "standby",
  rounds: 4,
  minClients: 1,
  deadline: kNever,
  model: makeModel,
  strategy: new FedAvg(),
};
