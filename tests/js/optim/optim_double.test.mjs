// Every optimizer in float64, step by step, compared with its formulas in plain JavaScript numbers. If an intermediate number
// were float32, the eighth digit would differ.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kSteps = 25;
const kRows = 3;
const kColumns = 4;
const kStart = Array.from({ length: kRows * kColumns }, (_, i) => Math.sin(1.3 * i + 0.4));

// The gradient of the sum of (x - c)^2 / 2 + sin(3 x).
const center = (i) => 0.3 * Math.cos(i);
const gradientAt = (x) => x.map((v, i) => v - center(i) + 3 * Math.cos(3 * v));

const { sqrt, abs, sign, max, min } = Math;

/** For each optimizer, a function that returns the next value of a number and updates its state. */
const kElementwise = {
  SGD: ({ lr, momentum = 0, dampening = 0, weightDecay = 0, nesterov = false }) => {
    return (x, g, s) => {
      let d = g + weightDecay * x;
      if (momentum !== 0) {
        s.buffer = s.step === 1 ? d : momentum * s.buffer + (1 - dampening) * d;
        d = nesterov ? d + momentum * s.buffer : s.buffer;
      }
      return x - lr * d;
    };
  },
  Adam: (settings) => adam(settings, false),
  AdamW: (settings) => adam({ weightDecay: 0.01, ...settings }, true),
  Adamax: ({ lr, betas: [b1, b2] = [0.9, 0.999], eps = 1e-8, weightDecay = 0 }) => {
    return (x, g, s) => {
      const d = g + weightDecay * x;
      s.m = b1 * (s.m ?? 0) + (1 - b1) * d;
      s.u = max(b2 * (s.u ?? 0), abs(d) + eps);
      return x - ((lr / (1 - b1 ** s.step)) * s.m) / s.u;
    };
  },
  NAdam: ({
    lr,
    betas: [b1, b2] = [0.9, 0.999],
    eps = 1e-8,
    weightDecay = 0,
    momentumDecay = 4e-3,
  }) => {
    const mu = (t) => b1 * (1 - 0.5 * 0.96 ** (t * momentumDecay));
    return (x, g, s) => {
      const d = g + weightDecay * x;
      s.product = (s.product ?? 1) * mu(s.step);
      s.m = b1 * (s.m ?? 0) + (1 - b1) * d;
      s.v = b2 * (s.v ?? 0) + (1 - b2) * d * d;
      const root = sqrt(s.v / (1 - b2 ** s.step)) + eps;
      const now = (lr * (1 - mu(s.step))) / (1 - s.product);
      const next = (lr * mu(s.step + 1)) / (1 - s.product * mu(s.step + 1));
      return x - (now * d) / root - (next * s.m) / root;
    };
  },
  SparseAdam: ({ lr, betas: [b1, b2] = [0.9, 0.999], eps = 1e-8 }) => {
    return (x, g, s) => {
      s.m = b1 * (s.m ?? 0) + (1 - b1) * g;
      s.v = b2 * (s.v ?? 0) + (1 - b2) * g * g;
      const rate = (lr * sqrt(1 - b2 ** s.step)) / (1 - b1 ** s.step);
      return x - (rate * s.m) / (sqrt(s.v) + eps);
    };
  },
  RAdam: ({ lr, betas: [b1, b2] = [0.9, 0.999], eps = 1e-8, weightDecay = 0 }) => {
    const longest = 2 / (1 - b2) - 1;
    return (x, g, s) => {
      const d = g + weightDecay * x;
      s.m = b1 * (s.m ?? 0) + (1 - b1) * d;
      s.v = b2 * (s.v ?? 0) + (1 - b2) * d * d;
      const average = s.m / (1 - b1 ** s.step);
      const correction = 1 - b2 ** s.step;
      const length = longest - (2 * s.step * b2 ** s.step) / correction;
      if (length <= 5) return x - lr * average;
      const rectified = sqrt(
        ((length - 4) * (length - 2) * longest) / ((longest - 4) * (longest - 2) * length),
      );
      return x - (lr * average * rectified * sqrt(correction)) / (sqrt(s.v) + eps);
    };
  },
  RMSprop: ({ lr, alpha = 0.99, eps = 1e-8, weightDecay = 0, momentum = 0, centered = false }) => {
    return (x, g, s) => {
      const d = g + weightDecay * x;
      s.v = alpha * (s.v ?? 0) + (1 - alpha) * d * d;
      s.mean = alpha * (s.mean ?? 0) + (1 - alpha) * d;
      const root = sqrt(centered ? s.v - s.mean ** 2 : s.v) + eps;
      s.buffer = momentum * (s.buffer ?? 0) + d / root;
      return x - lr * (momentum > 0 ? s.buffer : d / root);
    };
  },
  Adagrad: ({ lr, lrDecay = 0, weightDecay = 0, initialAccumulatorValue = 0, eps = 1e-10 }) => {
    return (x, g, s) => {
      const d = g + weightDecay * x;
      s.sum = (s.sum ?? initialAccumulatorValue) + d * d;
      return x - ((lr / (1 + (s.step - 1) * lrDecay)) * d) / (sqrt(s.sum) + eps);
    };
  },
  Adadelta: ({ lr, rho = 0.9, eps = 1e-6, weightDecay = 0 }) => {
    return (x, g, s) => {
      const d = g + weightDecay * x;
      s.v = rho * (s.v ?? 0) + (1 - rho) * d * d;
      const change = (sqrt((s.acc ?? 0) + eps) / sqrt(s.v + eps)) * d;
      s.acc = rho * (s.acc ?? 0) + (1 - rho) * change * change;
      return x - lr * change;
    };
  },
  Rprop: ({ lr, etas: [down, up] = [0.5, 1.2], stepSizes: [low, high] = [1e-6, 50] }) => {
    return (x, g, s) => {
      const turn = sign(g * (s.last ?? 0));
      const factor = turn > 0 ? up : turn < 0 ? down : 1;
      s.size = min(max((s.size ?? lr) * factor, low), high);
      s.last = turn < 0 ? 0 : g;
      return x - sign(s.last) * s.size;
    };
  },
  ASGD: ({ lr, lambd = 1e-4, alpha = 0.75, t0 = 1e6, weightDecay = 0 }) => {
    return (x, g, s) => {
      const eta = s.eta ?? lr;
      const next = x * (1 - lambd * eta) - eta * (g + weightDecay * x);
      const mu = s.mu ?? 1;
      s.average = mu === 1 ? next : s.average + mu * (next - s.average);
      s.eta = lr / (1 + lambd * lr * s.step) ** alpha;
      s.mu = 1 / max(1, s.step - t0);
      return next;
    };
  },
};

function adam(
  { lr, betas: [b1, b2] = [0.9, 0.999], eps = 1e-8, weightDecay = 0, amsgrad = false },
  isDecoupled,
) {
  return (given, g, s) => {
    const x = isDecoupled ? given * (1 - lr * weightDecay) : given;
    const d = isDecoupled ? g : g + weightDecay * x;
    s.m = b1 * (s.m ?? 0) + (1 - b1) * d;
    s.v = b2 * (s.v ?? 0) + (1 - b2) * d * d;
    s.most = max(s.most ?? 0, s.v);
    const root = sqrt(amsgrad ? s.most : s.v) / sqrt(1 - b2 ** s.step) + eps;
    return x - ((lr / (1 - b1 ** s.step)) * s.m) / root;
  };
}

/** Applies the step to each number separately. */
function elementwise(step) {
  const states = kStart.map(() => ({ step: 0 }));
  return (x) => {
    const g = gradientAt(x);
    return x.map((v, i) => {
      states[i].step++;
      return step(v, g[i], states[i]);
    });
  };
}

/** Adafactor on the whole matrix. */
function adafactor({ lr, beta2Decay = -0.8, d = 1, weightDecay = 0 }) {
  const tiny = Number.EPSILON;
  const [rows, columns] = [Array(kRows).fill(0), Array(kColumns).fill(0)];
  const size = (x) => sqrt(x.reduce((a, v) => a + v * v, 0)) / sqrt(x.length);
  const mean = (x) => x.reduce((a, v) => a + v, 0) / x.length;
  let step = 0;
  return (given) => {
    const g = gradientAt(given);
    const share = (++step) ** beta2Decay;
    const rate = min(lr, 1 / sqrt(step)) * max(size(given), 1e-3);
    const x = given.map((v) => v * (1 - lr * weightDecay));
    const square = (r, c) => g[r * kColumns + c] ** 2;
    rows.forEach((v, r) => {
      rows[r] = v + share * (mean(columns.map((_, c) => square(r, c))) - v);
    });
    columns.forEach((v, c) => {
      columns[c] = v + share * (mean(rows.map((_, r) => square(r, c))) - v);
    });
    const common = max(mean(rows), tiny);
    const change = g.map((v, i) => {
      const variance = (rows[Math.floor(i / kColumns)] * columns[i % kColumns]) / common;
      return v / sqrt(max(variance, tiny * tiny));
    });
    const excess = max(1, size(change) / d);
    return x.map((v, i) => v - (rate / excess) * change[i]);
  };
}

/** L-BFGS without a line search, with one iteration per step. */
function lbfgs({ lr, historySize = 100 }) {
  const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
  const plus = (a, b, factor) => a.map((v, i) => v + factor * b[i]);
  let last = null;
  let pairs = [];
  let diagonal = 1;
  return (x) => {
    const g = gradientAt(x);
    let d = g.map((v) => -v);
    let t = lr;
    if (last === null) {
      t = min(1, 1 / g.reduce((sum, v) => sum + abs(v), 0)) * lr;
    } else {
      const y = plus(g, last.g, -1);
      const s = last.d.map((v) => v * last.t);
      const curvature = dot(y, s);
      if (curvature > 1e-10) {
        pairs = [...pairs, { y, s, ro: 1 / curvature }].slice(-historySize);
        diagonal = curvature / dot(y, y);
      }
      const shares = new Map();
      for (const pair of [...pairs].reverse()) {
        const share = dot(pair.s, d) * pair.ro;
        shares.set(pair, share);
        d = plus(d, pair.y, -share);
      }
      d = d.map((v) => v * diagonal);
      for (const pair of pairs) d = plus(d, pair.s, shares.get(pair) - dot(pair.y, d) * pair.ro);
    }
    last = { g, d, t };
    return plus(x, d, t);
  };
}

const kCases = [
  ["SGD", { lr: 0.03 }],
  ["SGD", { lr: 0.03, momentum: 0.9, dampening: 0.1, weightDecay: 0.1 }],
  ["SGD", { lr: 0.03, momentum: 0.7, nesterov: true }],
  ["Adam", { lr: 0.03 }],
  ["Adam", { lr: 0.03, betas: [0.7, 0.83], eps: 1e-3, weightDecay: 0.1, amsgrad: true }],
  ["AdamW", { lr: 0.03 }],
  ["AdamW", { lr: 0.03, weightDecay: 0.3, amsgrad: true }],
  ["Adamax", { lr: 0.03, weightDecay: 0.1 }],
  ["NAdam", { lr: 0.03 }],
  ["NAdam", { lr: 0.03, betas: [0.8, 0.9], momentumDecay: 0.02, weightDecay: 0.1 }],
  ["RAdam", { lr: 0.03, weightDecay: 0.1 }],
  ["RAdam", { lr: 0.03, betas: [0.8, 0.9] }],
  ["SparseAdam", { lr: 0.03, betas: [0.8, 0.9], eps: 1e-3 }],
  ["RMSprop", { lr: 0.03 }],
  ["RMSprop", { lr: 0.03, alpha: 0.9, momentum: 0.7, centered: true, weightDecay: 0.1 }],
  ["Adagrad", { lr: 0.03 }],
  ["Adagrad", { lr: 0.03, lrDecay: 0.07, weightDecay: 0.1, initialAccumulatorValue: 0.1 }],
  ["Adadelta", { lr: 0.7 }],
  ["Adadelta", { lr: 0.7, rho: 0.7, weightDecay: 0.1 }],
  ["Rprop", { lr: 0.013 }],
  ["ASGD", { lr: 0.07 }],
  ["ASGD", { lr: 0.07, lambd: 0.03, alpha: 0.6, t0: 5, weightDecay: 0.1 }],
  ["Adafactor", { lr: 0.03 }],
  ["Adafactor", { lr: 0.03, weightDecay: 0.1, beta2Decay: -0.6 }],
  ["LBFGS", { lr: 0.1, maxIter: 1, historySize: 5 }],
];

const kWhole = { Adafactor: adafactor, LBFGS: lbfgs };

function reference(name, settings) {
  return kWhole[name]?.(settings) ?? elementwise(kElementwise[name](settings));
}

/** Returns the parameters after each step; after half of the steps, training resumes from a saved state. */
function trained(name, settings) {
  const x = eg.tensor(Float64Array.from(kStart), { shape: [kRows, kColumns], requiresGrad: true });
  const c = eg.tensor(
    Float64Array.from(kStart, (_, i) => center(i)),
    { shape: [kRows, kColumns] },
  );
  let optimizer = new eg.optim[name]([x], settings);
  return Array.from({ length: kSteps }, (_, i) => {
    if (i === Math.floor(kSteps / 2)) {
      const saved = eg.io.load(eg.io.save(optimizer.stateDict()));
      optimizer = new eg.optim[name]([x], settings);
      optimizer.loadStateDict(saved);
    }
    optimizer.step(() => {
      optimizer.zeroGrad();
      const loss = x.sub(c).square().div(2).add(x.mul(3).sin()).sum();
      loss.backward();
      if (name === "SparseAdam") x.grad = x.grad.toSparse();
      return loss;
    });
    return [...x.dataSync()];
  });
}

function checkAll(cases) {
  for (const [name, settings] of cases) {
    test(`${name} with ${JSON.stringify(settings)}`, () => {
      const step = reference(name, settings);
      let expected = kStart;
      trained(name, settings).forEach((actual, i) => {
        expected = step(expected);
        assertClose(actual, expected, { rtol: 1e-11, atol: 1e-11, what: `step ${i + 1}` });
      });
    });
  }
}

describe("parameters in float64 are stepped in float64", () => {
  test("by every optimizer there is", () => {
    const there = Object.keys(eg.optim).filter((name) => {
      return eg.optim[name].prototype instanceof eg.optim.Optimizer;
    });
    assert.deepEqual([...new Set(kCases.map(([name]) => name))].sort(), there.sort());
  });

  // As in PyTorch, NAdam stores one number in float32 unless float64 is the default dtype.
  checkAll(kCases.filter(([name]) => name !== "NAdam"));
});

describe("where float64 is the default dtype, too", () => {
  before(() => eg.setDefaultDtype("float64"));
  after(() => eg.setDefaultDtype("float32"));
  checkAll(kCases);
});

test("ASGD saves its rate and its average's share as it has them", () => {
  for (const [dtype, isRounded] of [
    ["float64", false],
    ["float32", true],
  ]) {
    // biome-ignore format: rows
    const x = eg.ones([2], { dtype, requiresGrad: true });
    const optimizer = new eg.optim.ASGD([x], { lr: 0.1, lambd: 0.1, t0: -2 });
    for (let i = 0; i < 2; i++) optimizer.step(() => x.sum().backward());
    const { eta, mu } = optimizer.stateDict().state[0];
    for (const [saved, exact] of [
      [eta, 0.1 / (1 + 0.1 * 0.1 * 2) ** 0.75],
      [mu, 1 / 4],
    ]) {
      // biome-ignore format: rows
      assert.equal(saved.item(), isRounded ? Math.fround(exact) : exact);
    }
  }
});
