// L-BFGS: a quasi-Newton method that evaluates the loss several times per step. It fits a growth curve to real data in a few
// steps, where gradient descent takes thousands.

import * as eg from "edgegrad";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

// The population of the USA in millions, 1790 to 1940 (U.S. census), the classic example of P. F. Verhulst's logistic curve.
const kYears = Array.from({ length: 16 }, (_, decade) => decade);
const kMillions = [
  3.929, 5.308, 7.24, 9.638, 12.866, 17.069, 23.192, 31.443, 38.558, 50.156, 62.948, 75.995, 91.972,
  105.711, 122.775, 131.669,
];

const steps = stepsWanted(10);
await eg.init();

const decades = eg.tensor(kYears, { dtype: "float64" });
const millions = eg.tensor(kMillions, { dtype: "float64" });
const parameter = (value) => new eg.nn.Parameter(eg.tensor(value, { dtype: "float64" }));
const logLimit = parameter(Math.log(150));
const rate = parameter(0.2);
const middle = parameter(8);

const curve = (years) => logLimit.exp().mul(years.sub(middle).mul(rate).sigmoid());

const optimizer = new eg.optim.LBFGS([logLimit, rate, middle], { lineSearchFn: "strong_wolfe" });
for (let step = 0; step < steps; step++) {
  const loss = optimizer.step(() => {
    optimizer.zeroGrad();
    const value = eg.mseLoss(curve(decades), millions);
    value.backward();
    return value;
  });
  tell(step, steps, { loss: loss.item() });
}

const limit = Math.exp(logLimit.item());
const year = 1790 + 10 * middle.item();
console.log(
  `The fitted population grows to ${limit.toFixed(1)} million, with half of that in ${year.toFixed(0)}.`,
);
await exportIfWanted("lbfgs", curve, [decades]);
