// Functions of a matrix whose gradients are known from running the same steps sequentially, without concurrency.

import { Problem } from "../oracle.mjs";

const kSide = 4;

const kSteps = {
  tanh: (_, x) => x.tanh(),
  sigmoid: (_, x) => x.sigmoid(),
  exp: (_, x) => x.mul(0.3).exp(),
  product: (_, x, shared) => x.mul(shared),
  matmul: (_, x, shared) => x.matmul(shared).mul(0.3),
  sum: (_, x) => x.add(x.sum(0)).mul(0.2),
  softmax: (_, x) => x.softmax(-1),
  square: (eg, x) => functionsOf(eg).Square.apply(x),
  twoSaved: (eg, x, shared) => functionsOf(eg).Product.apply(x, shared),
};

/** A random function of a matrix, determined by a seed. */
export class Graph {
  #eg;
  #shared;
  #names;
  #values;
  #device;

  constructor(world, random) {
    this.#eg = world.eg;
    this.#device = world.device;
    this.#shared = random.pick(world.shared);
    this.#names = Array.from({ length: 2 + random.int(4) }, () => random.pick(Object.keys(kSteps)));
    this.#values = Array.from({ length: kSide * kSide }, () => random.next() * 2 - 1);
  }

  /** Returns a new leaf to differentiate with respect to. */
  leaf() {
    const rows = Array.from({ length: kSide }, (_, i) =>
      this.#values.slice(i * kSide, (i + 1) * kSide),
    );
    return this.#eg.tensor(rows, { device: this.#device, requiresGrad: true });
  }

  /** Returns the values between the leaf and the mean, the last one first. `around` runs each step. */
  run(x, around = (step) => step()) {
    const results = [];
    let last = x;
    for (const name of this.#names) {
      const operand = last;
      last = around(() => kSteps[name](this.#eg, operand, this.#shared), operand);
      results.unshift(last);
    }
    return { root: last.mean(), results };
  }

  /** Returns the gradient with respect to the leaf when nothing else is running. */
  expected() {
    return this.#eg.scope(() => {
      const x = this.leaf();
      this.run(x).root.backward();
      return Array.from(x.grad.dataSync());
    });
  }
}

const functions = new WeakMap();

function functionsOf(eg) {
  if (!functions.has(eg)) functions.set(eg, makeFunctions(eg));
  return functions.get(eg);
}

function makeFunctions(eg) {
  class Square extends eg.autograd.Function {
    static forward(ctx, x) {
      ctx.saveForBackward(x);
      return x.mul(x);
    }
    static backward(ctx, grad) {
      const [x] = ctx.savedTensors;
      return x.mul(2).mul(grad);
    }
  }
  class Product extends eg.autograd.Function {
    static forward(ctx, x, shared) {
      ctx.saveForBackward(x, shared);
      ctx.factor = 0.5;
      return x.mul(shared).mul(0.5);
    }
    static backward(ctx, grad) {
      const [x, shared] = ctx.savedTensors;
      return [shared.mul(grad).mul(ctx.factor), ctx.needsInputGrad[1] ? x.mul(grad) : null];
    }
  }
  return { Square, Product };
}

const kRelative = 1e-4;
const kAbsolute = 1e-5;

/** Throws a Problem unless a gradient is `times` the expected one. */
export function checkGradient(gradient, expected, what, times = 1) {
  if (gradient === null) throw new Problem("wrong value", `${what}: there is no gradient`);
  const got = Array.from(gradient);
  const wrong = expected.findIndex((value, i) => {
    const right = value * times;
    return !(Math.abs(got[i] - right) <= kAbsolute * times + kRelative * Math.abs(right));
  });
  if (wrong < 0 && got.length === expected.length) return;
  const position = `element ${wrong} of ${got.length}`;
  throw new Problem(
    "wrong value",
    `${what}: ${position} is ${got[wrong]}, expected ${expected[wrong] * times}`,
  );
}
