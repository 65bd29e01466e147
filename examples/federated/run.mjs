// The run of compose.yaml: options of serve() for edgegrad-federated.

import { nn } from "edgegrad";
import { FedAvg } from "edgegrad/federated";

export default {
  run: "digits",
  rounds: 20,
  minClients: 1,
  deadline: 60_000,
  keepRounds: 5,
  model: () => new nn.Sequential(new nn.Linear(784, 64), new nn.ReLU(), new nn.Linear(64, 10)),
  strategy: new FedAvg(),
  // Only what alice has signed is counted.
  clients: { alice: process.env.ALICE },
};
