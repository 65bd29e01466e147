// A graph convolutional network on Zachary's karate club: 34 members, 78 friendships, and a conflict that split the club. From
// the side of the two leaders alone, the network predicts the side of every other member.

import * as eg from "edgegrad";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

// W. W. Zachary, An information flow model for conflict and fission in small groups (1977): for every member, the friends
// with a lower number.
const kFriends = (
  ",0,0 1,0 1 2,0,0,0 4 5,0 1 2 3,0 2,2,0 4 5,0,0 3,0 1 2 3,,,5 6,0 1,,0 1,,0 1,,,,23 24,," +
  "2 23 24,2,23 26,1 8,0 24 25 28,2 8 14 15 18 20 22 23 29 30 31," +
  "8 9 13 14 15 18 19 20 22 23 26 27 28 29 30 31 32"
)
  .split(",")
  .map((numbers) => numbers.split(" ").filter(Boolean).map(Number));
const kOfficers = [8, 9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33];
const kMembers = kFriends.length;

const { Linear, Module } = eg.nn;

/** Averages the features of neighbors with the weights `mixing`, followed by a linear layer. */
class GraphConv extends Module {
  constructor(inFeatures, outFeatures) {
    super();
    this.linear = new Linear(inFeatures, outFeatures);
  }

  forward(features, mixing) {
    return this.linear.call(mixing.matmul(features));
  }
}

class Gcn extends Module {
  first = new GraphConv(kMembers, 16);
  second = new GraphConv(16, 2);

  forward(features, mixing) {
    return this.second.call(this.first.call(features, mixing).relu(), mixing);
  }
}

const steps = stepsWanted(200);
await eg.init();
eg.manualSeed(0);

// D^-1/2 (A + I) D^-1/2
const friendships = kFriends.flatMap((friends, member) =>
  friends.map((friend) => [member, friend]),
);
const places = [0, 1].map((end) => eg.tensor(friendships.map((pair) => BigInt(pair[end]))));
const half = eg.zeros([kMembers, kMembers]).indexPut(places, eg.ones([friendships.length]));
const adjacency = half.add(half.t()).add(eg.eye(kMembers));
const scale = adjacency.sum(1).rsqrt();
const mixing = adjacency.mul(scale).mul(scale.unsqueeze(1));

const features = eg.eye(kMembers);
const sides = eg.tensor(kFriends.map((_, member) => BigInt(kOfficers.includes(member))));
const leaders = eg.tensor([0n, 33n]);
const model = new Gcn();
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01, weightDecay: 5e-4 });

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const scores = model.call(features, mixing);
    const loss = eg.crossEntropy(scores.indexSelect(0, leaders), sides.indexSelect(0, leaders));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    const right = scores.argmax(1).eq(sides).to("float32").mean();
    tell(step, steps, { loss: loss.item(), right: right.item() });
  });
}
await exportIfWanted("gcn", model, [features, mixing], {});
