// DQN: a network learns the value of each push of a cart from a replay memory of games. An older copy of the network, the
// target network, evaluates the next state. A step here is one push.

import * as eg from "edgegrad";
import { CartPole } from "./support/cart_pole.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kDiscount = 0.99;
const kBatch = 64;
const kMemorySize = 10_000;
const kStepsPerCopy = 200;
const { Linear, ReLU, Sequential } = eg.nn;

const makeNetwork = () =>
  new Sequential(
    new Linear(CartPole.stateSize, 64),
    new ReLU(),
    new Linear(64, 64),
    new ReLU(),
    new Linear(64, CartPole.actions),
  );

const steps = stepsWanted(12_000);
await eg.init();
eg.manualSeed(0);

const network = makeNetwork();
const target = makeNetwork().requiresGrad_(false);
const optimizer = new eg.optim.AdamW(network.parameters(), { lr: 1e-3 });
const memory = [];

/** Epsilon-greedy: mostly random actions at first, later mostly the best one according to the network. */
function choose(state, step) {
  const epsilon = 0.05 + 0.95 * Math.exp(-step / 1500);
  if (eg.rand([]).item() < epsilon) return eg.randint(0, CartPole.actions, []).item();
  return eg.noGrad(() => network.call(eg.tensor(state)).argmax().item());
}

function learn() {
  const indices = eg.randint(0, memory.length, [kBatch]).arraySync();
  const samples = indices.map((index) => memory[index]);
  const column = (name) => eg.tensor(samples.map((sample) => sample[name]));
  const actions = column("action").to("int64").unsqueeze(1);
  const values = network.call(column("state")).gather(1, actions).squeeze(1);
  // Double DQN: the value that the target network gives to the action that the network prefers.
  const future = eg.noGrad(() => {
    const next = column("next");
    const preferred = network.call(next).argmax(1, true);
    return target.call(next).gather(1, preferred).squeeze(1).mul(column("continues"));
  });
  const loss = eg.smoothL1Loss(values, future.mul(kDiscount).add(1));
  optimizer.zeroGrad();
  loss.backward();
  eg.nn.utils.clipGradValue_(network.parameters(), 1);
  optimizer.step();
  return loss.item();
}

const begin = () => new CartPole(eg.empty([CartPole.stateSize]).uniform_(-0.05, 0.05).arraySync());

let game = begin();
let usual = 0;
for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const { state } = game;
    const action = choose(state, step);
    game.push(action);
    memory[step % kMemorySize] = {
      state,
      action,
      next: game.state,
      continues: game.hasFallen ? 0 : 1,
    };
    const loss = learn();
    if (game.isOver) {
      usual = usual === 0 ? game.steps : 0.9 * usual + 0.1 * game.steps;
      game = begin();
    }
    if (step % kStepsPerCopy === 0) target.loadStateDict(network.stateDict());
    tell(step, steps, { loss, usual });
  });
}
await exportIfWanted("dqn", network, [eg.randn([1, CartPole.stateSize])]);
