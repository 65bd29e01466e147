// A physics-informed network: learns u(t) of a damped spring, u'' + 2 d u' + w^2 u = 0, u(0) = 1, u'(0) = 0, from the
// equation alone. The loss contains derivatives of the network with respect to its input, which needs createGraph.

import * as eg from "edgegrad";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kDamping = 1;
const kFrequency = 5;

const steps = stepsWanted(3000);
await eg.init();
eg.manualSeed(0);

const { Linear, Sequential, Tanh } = eg.nn;
const u = new Sequential(
  new Linear(1, 32),
  new Tanh(),
  new Linear(32, 32),
  new Tanh(),
  new Linear(32, 1),
);
const optimizer = new eg.optim.Adam(u.parameters(), { lr: 2e-3 });
const times = eg.linspace(0, 2, 80).reshape([-1, 1]).requiresGrad_();
const start = eg.zeros([1, 1], { requiresGrad: true });

/** Returns the derivative of `y` with respect to `t`. */
function slopeOf(y, t) {
  const [slope] = eg.autograd.grad(y.sum(), [t], { createGraph: true });
  return slope;
}

function loss() {
  const y = u.call(times);
  const slope = slopeOf(y, times);
  const curvature = slopeOf(slope, times);
  const residual = curvature.add(slope.mul(2 * kDamping)).add(y.mul(kFrequency ** 2));
  const first = u.call(start);
  const atStart = first.sub(1).square().add(slopeOf(first, start).square().mul(0.1)).sum();
  return residual.square().mean().mul(1e-3).add(atStart);
}

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const value = loss();
    optimizer.zeroGrad();
    value.backward();
    optimizer.step();
    tell(step, steps, { loss: value.item() });
  });
}

// The exact solution.
const w = Math.sqrt(kFrequency ** 2 - kDamping ** 2);
const exact = times
  .mul(-kDamping)
  .exp()
  .mul(
    times
      .mul(w)
      .cos()
      .add(
        times
          .mul(w)
          .sin()
          .mul(kDamping / w),
      ),
  );
const error = eg.noGrad(() => u.call(times).sub(exact).abs().max());
console.log(`largest error ${error.item().toFixed(4)}`);
await exportIfWanted("pinn", u, [times.detach()]);
