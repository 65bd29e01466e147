// Errors of distributions, and what validation checks.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const d = eg.distributions;
const double = (data) => eg.tensor(data, { dtype: "float64" });

describe("distributions refuse", () => {
  const kRefused = {
    "a scale below 0": [
      () => new d.Normal(0, -1),
      "InvalidArgument",
      /^\[Normal\] scale: .* constraint positive in Normal\(.*\)/,
    ],
    "parameters that do not broadcast": [
      () => new d.Normal(double([1, 2]), double([1, 2, 3])),
      "ShapeMismatch",
      /\[Normal\] the shapes \[2\] and \[3\]/,
    ],
    "a value outside the support": [
      () => new d.Exponential(1).logProb(double([-1])),
      "InvalidArgument",
      /^\[Exponential.logProb\] value: .* support nonnegative of Exponential\(.*\)/,
    ],
    "a value of another shape": [
      () => new d.Normal(double([0, 1]), 1).logProb(double([1, 2, 3])),
      "ShapeMismatch",
      /broadcasts with batchShape \+ eventShape/,
    ],
    "a value of another event": [
      () => new d.Dirichlet(double([1, 1])).logProb(double([0.2, 0.3, 0.5])),
      "ShapeMismatch",
      /broadcasts with batchShape \+ eventShape/,
    ],
    "a value that is not a tensor": [
      () => new d.Normal(0, 1).logProb(1),
      "InvalidArgument",
      /value: expected a tensor/,
    ],
    "neither probs nor logits": [
      () => new d.Bernoulli(),
      "InvalidArgument",
      /either `probs` or `logits`/,
    ],
    "probs and logits": [
      () => new d.Categorical(double([1]), double([1])),
      "InvalidArgument",
      /got both/,
    ],
    "probabilities without classes": [
      () => new d.Categorical(1),
      "ShapeMismatch",
      /at least one dimension/,
    ],
    "a mistyped option": [
      () => new d.Normal(0, 1, { validate: true }),
      "InvalidArgument",
      /Did you mean "validateArgs"/,
    ],
    "too few arguments": [
      () => new d.Normal(0),
      "InvalidArgument",
      /scale: expected a tensor or a number, got nothing/,
    ],
    "an invalid shape": [
      () => new d.Normal(0, 1).sample(-1),
      "InvalidArgument",
      /^\[Normal.sample\] shape/,
    ],
    "an empty interval": [() => new d.Uniform(1, 1), "InvalidArgument", /expected low < high/],
    "a probability of 0 for Geometric": [
      () => new d.Geometric(0),
      "InvalidArgument",
      /expected positive probabilities/,
    ],
    "a matrix that is not a covariance": [
      () =>
        new d.MultivariateNormal(
          double([0, 0]),
          double([
            [1, 2],
            [2, 1],
          ]),
        ),
      "InvalidArgument",
      /positiveDefinite/,
    ],
    "two matrices": [
      () => new d.MultivariateNormal(double([0]), double([[1]]), double([[1]])),
      "InvalidArgument",
      /covarianceMatrix and precisionMatrix/,
    ],
    "more dimensions than the batch has": [
      () => new d.Independent(new d.Normal(0, 1), 1),
      "InvalidArgument",
      /reinterpretedBatchNdims/,
    ],
    "a mixture with another number of components": [
      () =>
        new d.MixtureSameFamily(
          new d.Categorical(double([1, 1])),
          new d.Normal(double([1, 2, 3]), 1),
        ),
      "ShapeMismatch",
      /2 components/,
    ],
    "a value that is not a transform": [
      () => new d.TransformedDistribution(new d.Normal(0, 1), [1]),
      "InvalidArgument",
      /a transform/,
    ],
    "a mode that is not implemented": [
      () => new d.Multinomial(2, double([0.5, 0.5])).mode,
      "InvalidArgument",
      /Multinomial does not implement mode/,
    ],
    "an abstract class": [() => new d.Distribution(), "InvalidArgument", /abstract/],
  };
  for (const [what, [call, code, text]] of Object.entries(kRefused)) {
    test(what, () => assertThrows(call, code, text));
  }

  test("no parameters when validation is off", () => {
    assert.ok(Number.isNaN(new d.Normal(0, -1, false).logProb(eg.tensor([1])).item()));
  });
});
