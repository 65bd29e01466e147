// Epsilon against published values.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RdpAccountant } from "edgegrad/federated";

function epsilonOf({ examples, batch, noise, epochs, delta }) {
  const accountant = new RdpAccountant();
  const rounds = Math.floor((epochs * examples) / batch);
  accountant.step({ noiseMultiplier: noise, probability: batch / examples, rounds });
  return accountant.epsilon(delta);
}

describe("epsilon", () => {
  // The values that TensorFlow Privacy publishes in the tests of its accountant.
  const kPublished = [
    [{ examples: 60_000, batch: 150, noise: 1.3, epochs: 15, delta: 1e-5 }, 0.7242234026109595],
    [{ examples: 100_000, batch: 100, noise: 1, epochs: 30, delta: 1e-7 }, 1.4154988495444845],
  ];
  for (const [run, expected] of kPublished) {
    test(`is ${expected.toFixed(4)} for noise ${run.noise} and ${run.epochs} epochs`, () => {
      const found = epsilonOf(run);
      assert.ok(Math.abs(found / expected - 1) < 1e-3, `${found}`);
    });
  }

  test("is at most that of the moments accountant (Abadi et al. 2016: 1.26)", () => {
    const accountant = new RdpAccountant();
    accountant.step({ noiseMultiplier: 4, probability: 0.01, rounds: 10_000 });
    const found = accountant.epsilon(1e-5);
    assert.ok(found < 1.26 && found > 0.9, `${found}`);
  });

  test("of rounds with everybody is that of the Gaussian mechanism", () => {
    const accountant = new RdpAccountant();
    accountant.step({ noiseMultiplier: 10, rounds: 4 });
    // The infimum over orders of order * 4 / (2 * 100) + conversion, found on a fine grid here.
    let least = Infinity;
    for (let order = 1.01; order < 200; order += 0.01) {
      const cost = (4 * order) / 200;
      const bound = cost + Math.log1p(-1 / order) - Math.log(1e-5 * order) / (order - 1);
      least = Math.min(least, bound);
    }
    assert.ok(Math.abs(accountant.epsilon(1e-5) / least - 1) < 1e-3);
  });

  test("is zero before the first round, grows with rounds, and survives a state dict", () => {
    const accountant = new RdpAccountant();
    assert.equal(accountant.epsilon(1e-5), 0);
    let last = 0;
    for (let round = 0; round < 3; round++) {
      accountant.step({ noiseMultiplier: 1, probability: 0.1 });
      const epsilon = accountant.epsilon(1e-5);
      assert.ok(epsilon > last);
      last = epsilon;
    }
    const other = new RdpAccountant();
    other.loadStateDict(JSON.parse(JSON.stringify(accountant.stateDict())));
    assert.equal(other.epsilon(1e-5), last);
  });

  test("arguments are checked", () => {
    const accountant = new RdpAccountant();
    assert.throws(() => accountant.step({ noiseMultiplier: 0 }), /noiseMultiplier: .*above 0/);
    assert.throws(() => accountant.step({ noiseMultiplier: 1, probability: 2 }), /probability/);
    assert.throws(() => accountant.epsilon(1), /delta: .*below 1/);
    assert.throws(() => accountant.loadStateDict({ spent: [1] }), /spent: expected 1\d\d numbers/);
  });
});
