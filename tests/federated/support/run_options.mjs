// The module that tests pass to edgegrad-federated.

import { FedAvg } from "edgegrad/federated";
import { kNever } from "./runs.mjs";
import { makeModel } from "./task.mjs";

export default {
  run: "program",
  rounds: 2,
  minClients: 1,
  deadline: kNever,
  model: makeModel,
  strategy: new FedAvg(),
};
