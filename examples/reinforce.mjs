// REINFORCE: a policy learns to balance a pole. Actions that were followed by a long game become more likely, and actions
// shortly before a fall less likely. A step here is one game.

import * as eg from "edgegrad";
import { CartPole } from "./support/cart_pole.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kDiscount = 0.99;
const { Linear, Sequential, Tanh } = eg.nn;
const { Categorical } = eg.distributions;

const steps = stepsWanted(400);
await eg.init();
eg.manualSeed(0);

const policy = new Sequential(
  new Linear(CartPole.stateSize, 64),
  new Tanh(),
  new Linear(64, CartPole.actions),
);
const optimizer = new eg.optim.Adam(policy.parameters(), { lr: 5e-3 });

const choices = (states) => new Categorical({ logits: policy.call(eg.tensor(states)) });

/** Plays a game; returns its states and the action in each. */
function play() {
  const game = new CartPole(eg.empty([CartPole.stateSize]).uniform_(-0.05, 0.05).arraySync());
  const [states, actions] = [[], []];
  while (!game.isOver) {
    const action = eg.scope(() => eg.noGrad(() => Number(choices(game.state).sample().item())));
    states.push(game.state);
    actions.push(BigInt(action));
    game.push(action);
  }
  return { states, actions };
}

/** The discounted return of each step in a game of this length, with a reward of 1 per step. */
function returnsOf(length) {
  const left = Array.from({ length }, (_, step) => length - step);
  return eg.tensor(left.map((count) => (1 - kDiscount ** count) / (1 - kDiscount)));
}

let usual = 0;
for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const { states, actions } = play();
    const returns = returnsOf(actions.length);
    const [variance, mean] = eg.varMean(returns);
    const advantage = returns.sub(mean).div(variance.sqrt().add(1e-6));
    const loss = choices(states).logProb(eg.tensor(actions)).mul(advantage).sum().neg();
    optimizer.zeroGrad();
    loss.backward();
    eg.nn.utils.clipGradNorm_(policy.parameters(), 5);
    optimizer.step();
    usual = step === 0 ? actions.length : 0.95 * usual + 0.05 * actions.length;
    tell(step, steps, { balanced: actions.length, usual });
  });
}
await exportIfWanted("reinforce", policy, [eg.randn([1, CartPole.stateSize])]);
