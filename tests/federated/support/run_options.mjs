// The module that tests pass to edgegrad-federated.

import { FedAvg } from "edgegrad/federated";
import { makeModel } from "./task.mjs";

export default {
  run: "program",
  rounds: 2,
  minClients: 1,
  deadline: 20_000,
  model: makeModel,
  strategy: new FedAvg(),
};
