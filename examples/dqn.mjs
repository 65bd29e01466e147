// DQN: a network learns what each push of a cart is worth, from games that it remembers, and judges what comes next by an
// older copy of itself. A step here is a push.

import * as eg from "edgegrad";
import { CartPole } from "./support/cart_pole.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kDiscount = 0.99;
const kBatch = 64;
const kRemembered = 10_000;
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
const older = makeNetwork().requiresGrad_(false);
const optimizer = new eg.optim.AdamW(network.parameters(), { lr: 1e-3 });
const memory = [];

/** Mostly what the network holds for best, at first mostly anything. */
function choose(state, step) {
  const curiosity = 0.05 + 0.95 * Math.exp(-step / 1500);
  if (eg.rand([]).item() < curiosity) return eg.randint(0, CartPole.actions, []).item();
  return eg.noGrad(() => network.call(eg.tensor(state)).argmax().item());
}

function learn() {
  const places = eg.randint(0, memory.length, [kBatch]).arraySync();
  const moments = places.map((place) => memory[place]);
  const column = (name) => eg.tensor(moments.map((moment) => moment[name]));
  const actions = column("action").to("int64").unsqueeze(1);
  const values = network.call(column("state")).gather(1, actions).squeeze(1);
  // What the network prefers there, as the older one judges it.
  const later = eg.noGrad(() => {
    const next = column("next");
    const preferred = network.call(next).argmax(1, true);
    return older.call(next).gather(1, preferred).squeeze(1).mul(column("goesOn"));
  });
  const loss = eg.smoothL1Loss(values, later.mul(kDiscount).add(1));
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
    memory[step % kRemembered] = {
      state,
      action,
      next: game.state,
      goesOn: game.hasFallen ? 0 : 1,
    };
    const loss = learn();
    if (game.isOver) {
      usual = usual === 0 ? game.steps : 0.9 * usual + 0.1 * game.steps;
      game = begin();
    }
    if (step % kStepsPerCopy === 0) older.loadStateDict(network.stateDict());
    tell(step, steps, { loss, usual });
  });
}
