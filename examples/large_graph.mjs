// A graph network on 20,000 nodes with 100,000 edges, which are one sparse matrix. Nodes belong to groups and are linked
// mostly inside them; from a few labels the network learns the group of every node.

import * as eg from "edgegrad";
import { stepsWanted, tell } from "./support/steps.mjs";

const kNodes = 20_000;
const kEdges = 100_000;
const kGroups = 5;
const kFeatures = 32;

class GraphConv extends eg.nn.Module {
  constructor(inFeatures, outFeatures) {
    super();
    this.linear = new eg.nn.Linear(inFeatures, outFeatures);
  }

  forward(features, mixing) {
    return this.linear.call(mixing.matmul(features));
  }
}

class Gcn extends eg.nn.Module {
  first = new GraphConv(kFeatures, 32);
  second = new GraphConv(32, kGroups);

  forward(features, mixing) {
    return this.second.call(this.first.call(features, mixing).relu(), mixing);
  }
}

const steps = stepsWanted(100);
await eg.init();
eg.manualSeed(0);

// The group of a node is the remainder of its number: an edge inside a group leads a multiple of kGroups further.
const from = eg.randint(0, kNodes, [kEdges]);
const inside = eg
  .randint(1, kNodes / kGroups, [kEdges])
  .mul(kGroups)
  .add(from);
const anywhere = eg.randint(0, kNodes, [kEdges]);
const to = eg.where(eg.rand([kEdges]).lt(0.8), inside, anywhere).remainder(kNodes);
const self = eg.arange(kNodes);
const rows = eg.cat([from, to, self]);
const columns = eg.cat([to, from, self]);
const degrees = eg.zeros([kNodes]).indexAdd(0, rows, eg.ones([rows.numel]));
const values = degrees.reciprocal().indexSelect(0, rows);
const mixing = eg
  .sparseCooTensor(eg.stack([rows, columns]), values, [kNodes, kNodes])
  .toSparseCsr();

// Features that say little about the group of their own node.
const groups = self.remainder(kGroups);
const features = eg.randn([kNodes, kFeatures]).add(eg.oneHot(groups, kFeatures), 0.5);
const known = eg.randint(0, kNodes, [1000]);
const model = new Gcn();
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01, weightDecay: 1e-3 });

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const scores = model.call(features, mixing);
    const loss = eg.crossEntropy(scores.indexSelect(0, known), groups.indexSelect(0, known));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    const right = scores.argmax(1).eq(groups).to("float32").mean();
    tell(step, steps, { loss: loss.item(), right: right.item() });
  });
}
