// Custom Functions, hooks and random numbers inside vmap().

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { values } from "../support/graphs.mjs";

const { grad, hessian, jacfwd, jacrev, jvp, vjp, vmap } = eg.func;
const { Function: AutogradFunction } = eg.autograd;

const T = (data) => eg.tensor(data, { dtype: "float64" });
const plain = (tensor) => tensor.detach().arraySync();
const batch = () =>
  T([
    [0.5, 1],
    [2, 3],
    [4, 5],
  ]);

class Generated extends AutogradFunction {
  static generateVmapRule = true;
  static forward(ctx, x, y, scale) {
    ctx.saveForBackward(x, y);
    ctx.scale = scale;
    return x.mul(y).mul(scale);
  }
  static backward(ctx, grad) {
    const [x, y] = ctx.savedTensors;
    const wanted = ctx.needsInputGrad;
    return [
      wanted[0] ? grad.mul(y).mul(ctx.scale) : null,
      wanted[1] ? grad.mul(x).mul(ctx.scale) : null,
      null,
    ];
  }
}

class Own extends AutogradFunction {
  static calls = [];
  static forward(ctx, x, y, scale) {
    return Generated.forward(ctx, x, y, scale);
  }
  static backward(ctx, grad) {
    return Generated.backward(ctx, grad);
  }
  static vmap(info, inDims, x, y, scale) {
    Own.calls.push([info.batchSize, info.randomness, inDims]);
    const front = (tensor, dim) => (dim === null ? tensor : tensor.movedim(dim, 0));
    const [a, b] = [front(x, inDims[0]), front(y, inDims[1])];
    const rankOf = (tensor, dim) => tensor.ndim - (dim === null ? 0 : 1);
    const rank = Math.max(rankOf(a, inDims[0]), rankOf(b, inDims[1]));
    const aligned = (tensor, dim) =>
      dim === null || rankOf(tensor, dim) === rank ? tensor : tensor.unsqueeze(1);
    return [Own.apply(aligned(a, inDims[0]), aligned(b, inDims[1]), scale), 0];
  }
}

const reference = (x, y, scale) => x.mul(y).mul(scale);

describe("a custom Function inside of vmap", () => {
  const w = () => T([3, 7]);
  for (const [name, apply] of [
    ["generateVmapRule", (...args) => Generated.apply(...args)],
    ["its own vmap", (...args) => Own.apply(...args)],
  ]) {
    const cases = {
      "both of the batch": (f) => vmap((x, y) => f(x, y, 2))(batch(), batch().sin()),
      "one of the batch": (f) => vmap((x) => f(x, w(), 2))(batch()),
      "the other of the batch": (f) => vmap((x) => f(w(), x, 2))(batch()),
      "none of the batch": (f) => vmap((x) => x.add(f(w(), w(), 2)))(batch()),
      "another dimension": (f) => vmap((x) => f(x, T([1, 2, 3]), 2), 1, 1)(batch()),
      "levels in levels": (f) => vmap(vmap((x) => f(x, T(3), 2)))(batch()),
      "levels of which one is inner": (f) =>
        vmap((x) => vmap((y) => f(x, y, 2))(w()))(T([1, 2, 3])),
      "vmap of grad": (f) => vmap(grad((x) => f(x, w(), 2).square().sum()))(batch()),
      "vmap of grad by what is the same": (f) =>
        vmap((x) => grad((y) => f(x, y, 2).square().sum())(w()))(batch()),
      "vmap of grad of grad": (f) =>
        vmap(grad((x) => grad((y) => f(y, y, 2).square().sum())(x).sum()))(batch()),
      "grad of vmap": (f) =>
        grad((x) =>
          vmap((y) => f(y, w(), 2))(x)
            .square()
            .sum(),
        )(batch()),
      "grad by what is the same": (f) =>
        grad((y) =>
          vmap((x) => f(x, y, 2))(batch())
            .square()
            .sum(),
        )(w()),
      "vmap of jacrev": (f) => vmap(jacrev((x) => f(x, x, 2)))(batch()),
      "vmap of jacfwd": (f) => vmap(jacfwd((x) => f(x, x, 2)))(batch()),
      "vmap of hessian": (f) => vmap(hessian((x) => f(x, x, 2).sum()))(batch()),
      "vmap of vjp": (f) => vmap((x, v) => vjp((y) => f(y, w(), 2), x)[1](v)[0])(batch(), batch()),
      "vmap of jvp": (f) => vmap((x, v) => jvp((y) => f(y, w(), 2), [x], [v])[1])(batch(), batch()),
      "gradients of the engine": (f) => {
        const [x, y] = [batch().requiresGrad_(), w().requiresGrad_()];
        const z = vmap((one) => f(one, y, 2))(x)
          .square()
          .sum();
        return eg.cat(eg.autograd.grad(z, [x, y]).map((one) => one.reshape([-1])));
      },
      chunks: (f) => vmap((x) => f(x, w(), 2), { chunkSize: 2 })(batch()),
    };
    for (const [title, run] of Object.entries(cases)) {
      test(`${name}: ${title}`, () => {
        assert.deepEqual(plain(run(apply)), plain(run(reference)));
      });
    }
  }

  test("has a context, with properties of its own", () => {
    class Noting extends Generated {
      static forward(ctx, x, y, scale) {
        assert.ok(ctx instanceof eg.autograd.FunctionContext);
        ctx.fixed = x.shape;
        ctx.level = "mine";
        return Generated.forward(ctx, x, y, scale);
      }
      static backward(ctx, grad) {
        assert.deepEqual(
          [ctx.fixed, ctx.level, ctx.needsInputGrad],
          [[2], "mine", [true, true, false]],
        );
        return Generated.backward(ctx, grad);
      }
    }
    const run = (fn) => plain(vmap(grad((x) => fn.apply(x, x, 2).sum()))(batch()));
    assert.deepEqual(run(Noting), run(Generated));
  });

  test("receives the batch", () => {
    Own.calls = [];
    vmap((x) => Own.apply(x, T([1, 2]), 3), { randomness: "same" })(batch());
    assert.deepEqual(Own.calls, [[3, "same", [0, null, null]]]);
  });

  test("several results, of which some have no gradient or are the same for all", () => {
    class Several extends AutogradFunction {
      static generateVmapRule = true;
      static forward(ctx, x, w) {
        const [sum, sign] = [x.add(w), x.sign()];
        ctx.markNonDifferentiable(sign);
        ctx.setMaterializeGrads(false);
        return [sum, sign, w.mul(2)];
      }
      static backward(_ctx, sum, sign, twice) {
        assert.equal(sign, null);
        return [sum, (sum ?? eg.tensor(0)).add(twice === null ? 0 : twice.mul(2))];
      }
    }
    const [x, w] = [batch().requiresGrad_(), T([1, 2]).requiresGrad_()];
    const [sum, sign, twice] = vmap((one) => Several.apply(one, w))(x);
    assert.equal(sum.requiresGrad, true);
    assert.equal(sign.requiresGrad, false);
    assert.deepEqual(plain(twice), [
      [2, 4],
      [2, 4],
      [2, 4],
    ]);
    sum.sum().add(twice.sum()).backward();
    assert.deepEqual(values(x.grad), [1, 1, 1, 1, 1, 1]);
    assert.deepEqual(values(w.grad), [9, 9]);
  });

  test("that changes its argument in place", () => {
    class Double extends AutogradFunction {
      static generateVmapRule = true;
      static forward(ctx, x) {
        ctx.markDirty(x);
        return x.mul_(2);
      }
      static backward(_ctx, grad) {
        return grad.mul(2);
      }
    }
    const x = batch().requiresGrad_();
    const y = vmap((one) => {
      const own = one.clone();
      const result = Double.apply(own);
      return own.add(result);
    })(x);
    assert.deepEqual(plain(y), plain(batch().mul(4)));
    assert.deepEqual(values(eg.autograd.grad(y.sum(), x)[0]), [4, 4, 4, 4, 4, 4]);
  });

  test("gradients of other shapes are summed per sample", () => {
    class Wide extends AutogradFunction {
      static generateVmapRule = true;
      static forward(_ctx, x, y) {
        return x.add(y);
      }
      static backward(_ctx, grad) {
        return [grad, grad];
      }
    }
    const run = (f) =>
      vmap((x) =>
        grad((y) =>
          f(y, T([1, 2, 3]))
            .square()
            .sum(),
        )(x),
      )(T([[1], [2], [3]]));
    assert.deepEqual(plain(run((x, y) => Wide.apply(x, y))), plain(run((x, y) => x.add(y))));
  });

  test("what its backward throws, or returns that is no gradient, is an error of the call", () => {
    const failing = (backward) => {
      class Failing extends Generated {
        static backward() {
          return backward();
        }
      }
      return () => vmap(grad((x) => Failing.apply(x, x, 1).sum()))(batch());
    };
    assert.throws(
      failing(() => {
        throw new RangeError("mine");
      }),
      /mine/,
    );
    assertThrows(
      failing(() => 5),
      "InvalidGradient",
      /Failing/,
    );
    assertThrows(
      failing(() => [T([1, 2, 3]), null, null]),
      "InvalidGradient",
      /shape|size/,
    );
    assertThrows(
      failing(() => [null, null, null, T(1)]),
      "InvalidGradient",
    );
    assert.deepEqual(plain(vmap((x) => Generated.apply(x, x, 1))(T([[2, 3]]))), [[4, 9]]);
  });

  test("an async function is refused by the name of the transform", () => {
    for (const transform of [grad, jacrev, hessian]) {
      assertThrows(() => transform(async (x) => x.sum())(T([1])), "InvalidArgument", /promise/);
    }
    assertThrows(() => grad(async (x) => x.sum())(T([1])), "InvalidArgument", /^\[grad\]/);
  });

  test("without a rule it is refused by name, and so is one with two", () => {
    class Bare extends AutogradFunction {
      static forward(_ctx, x) {
        return x.clone();
      }
      static backward(_ctx, grad) {
        return grad;
      }
    }
    class Both extends Own {
      static generateVmapRule = true;
    }
    class Wrong extends Bare {
      static vmap(_info, _inDims, x) {
        return x;
      }
    }
    class Outside extends Bare {
      static vmap(_info, _inDims, x) {
        return [x, 5];
      }
    }
    const run = (fn) => () => vmap((x) => fn.apply(x, x, 1))(batch());
    assertThrows(run(Bare), "InvalidArgument", /Bare.*generateVmapRule/);
    assertThrows(run(Both), "InvalidArgument", /Both.*contradict/);
    assertThrows(run(Wrong), "InvalidArgument", /Wrong.*outDims/);
    assertThrows(run(Outside), "InvalidArgument", /Outside.*outDims.*5/);
    assertThrows(() => AutogradFunction.vmap({}, []), "InvalidArgument");
    assert.deepEqual(plain(Bare.apply(batch())), plain(batch()));
    assert.deepEqual(plain(vmap((x) => x.add(Bare.apply(T([1, 2]))))(T([[0.5, 1]]))), [[1.5, 3]]);
  });

  test("leaves nothing behind", () => {
    const step = () =>
      eg.scope(() => {
        const x = batch().requiresGrad_();
        vmap((one) => Generated.apply(one, one, 2))(x)
          .sum()
          .backward();
      });
    step();
    const { tensors, graphNodes, jsHandles } = eg.memory();
    for (let i = 0; i < 20; i++) step();
    const after = eg.memory();
    assert.deepEqual(
      [after.tensors, after.graphNodes, after.jsHandles],
      [tensors, graphNodes, jsHandles],
    );
  });
});

describe("hooks inside of vmap", () => {
  const cubes = (x) => x.pow(3);

  test("see the gradients of samples, and may replace them", () => {
    const run = (hook) =>
      vmap(
        grad((x) => {
          const y = x.mul(2);
          if (hook) y.registerHook(hook);
          return cubes(y).sum();
        }),
      )(batch());
    const shapes = [];
    const seen = run((g) => {
      shapes.push(g.shape);
    });
    assert.deepEqual(plain(seen), plain(run(null)));
    assert.deepEqual(shapes, [[2]]);
    assert.deepEqual(plain(run((g) => g.mul(2))), plain(run(null).mul(2)));
    assert.deepEqual(
      plain(run((g) => g.div(g.norm()))),
      plain(
        run(null)
          .mul(0)
          .add(
            vmap((x) => {
              const g = cubes(x.mul(2)).mul(0).add(x.mul(2).square().mul(3));
              return g.div(g.norm()).mul(2);
            })(batch()),
          ),
      ),
    );
    assert.deepEqual(plain(run(() => T([1, 10]))), [
      [2, 20],
      [2, 20],
      [2, 20],
    ]);
  });

  test("run in a backward after it, and can be removed", () => {
    const x = batch().requiresGrad_();
    const seen = [];
    let handle = null;
    const y = vmap((one) => {
      const z = one.mul(2);
      handle = z.registerHook((g) => {
        seen.push(g.shape);
        return g.mul(z);
      });
      return z.square();
    })(x);
    y.sum().backward(null, { retainGraph: true });
    const z = batch().mul(2);
    assert.deepEqual(plain(x.grad), plain(z.mul(2).mul(z).mul(2)));
    assert.deepEqual(seen, [[2]]);
    handle.remove();
    x.grad = null;
    y.sum().backward();
    assert.deepEqual(plain(x.grad), plain(z.mul(4)));
    assert.deepEqual(seen, [[2]]);
  });

  test("of a tensor that is the same for all samples", () => {
    const w = T([1, 2]).requiresGrad_();
    const seen = [];
    vmap((x) => {
      if (seen.length === 0) w.registerHook((g) => void seen.push(plain(g)));
      return x.mul(w);
    })(batch())
      .sum()
      .backward();
    assert.deepEqual(seen, [[6.5, 9]]);
    const v = T([1, 2]).requiresGrad_();
    const bad = vmap((x) => {
      v.registerHook(() => x);
      return x.mul(v);
    })(batch()).sum();
    assertThrows(() => bad.backward(), "InvalidGradient", /same for all samples/);
  });

  test("for several tensors, and within levels of levels", () => {
    const counts = [];
    const f = (x) => {
      const [a, b] = [x.mul(2), x.mul(3)];
      eg.autograd.graph.registerMultiGradHook([a, b], (grads) => {
        counts.push(grads.map((one) => one.shape));
      });
      return a.mul(b).sum();
    };
    vmap(grad(f))(batch());
    vmap(vmap(grad(f)))(batch());
    assert.deepEqual(counts, [
      [[2], [2]],
      [[], []],
    ]);
  });
});

describe("randomness", () => {
  const x = eg.zeros([7, 3]);
  const draws = {
    rand: () => eg.rand([3]),
    randn: () => eg.randn([3]),
    randint: () => eg.randint(100, [3]),
    randperm: () => eg.randperm(10),
    dropout: (row) => eg.dropout(row.add(1), 0.5, true),
    "two draws": () => eg.rand([3]).add(eg.randn([3])),
    "a distribution": () => new eg.distributions.Normal(0, 1).sample([3]),
  };
  for (const [name, draw] of Object.entries(draws)) {
    test(`${name}: 'same' is the same for all, whatever the chunks`, () => {
      const run = (chunkSize) => {
        eg.manualSeed(4);
        const rows = vmap(draw, { randomness: "same", chunkSize })(x).arraySync();
        return { rows, next: eg.rand([2]).arraySync() };
      };
      const all = run(null);
      for (const row of all.rows) assert.deepEqual(row, all.rows[0]);
      for (const size of [1, 2, 3, 7, 8]) assert.deepEqual(run(size), all, `chunks of ${size}`);
    });

    test(`${name}: 'different' differs, across chunks too`, () => {
      for (const chunkSize of [null, 1, 3]) {
        const rows = vmap(draw, { randomness: "different", chunkSize })(
          eg.zeros([7, 30]),
        ).arraySync();
        const texts = new Set(rows.map((row) => JSON.stringify(row)));
        assert.ok(texts.size > 3, `${texts.size} different rows`);
      }
    });
  }

  const {
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Cauchy,
    ContinuousBernoulli,
    Dirichlet,
    Exponential,
    FisherSnedecor,
    Gamma,
    Geometric,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    Laplace,
    LogNormal,
    LogisticNormal,
    LowRankMultivariateNormal,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    OneHotCategorical,
    Pareto,
    Poisson,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    StudentT,
    Uniform,
    VonMises,
    Weibull,
    Wishart,
  } = eg.distributions;
  const made = {
    Bernoulli: (p) => new Bernoulli(p),
    Beta: (p) => new Beta(p, p),
    Binomial: (p) => new Binomial(20, p),
    Categorical: (p) => new Categorical(p),
    Cauchy: (p) => new Cauchy(p, 1),
    ContinuousBernoulli: (p) => new ContinuousBernoulli(p),
    Dirichlet: (p) => new Dirichlet(p),
    Exponential: (p) => new Exponential(p),
    FisherSnedecor: (p) => new FisherSnedecor(p.add(1), p.add(2)),
    Gamma: (p) => new Gamma(p, 1),
    Geometric: (p) => new Geometric(p),
    Gumbel: (p) => new Gumbel(p, 1),
    HalfCauchy: (p) => new HalfCauchy(p),
    HalfNormal: (p) => new HalfNormal(p),
    InverseGamma: (p) => new InverseGamma(p, 1),
    Kumaraswamy: (p) => new Kumaraswamy(p, p),
    Laplace: (p) => new Laplace(p, 1),
    LogNormal: (p) => new LogNormal(p, 1),
    LogisticNormal: (p) => new LogisticNormal(p, p),
    LowRankMultivariateNormal: (p) =>
      new LowRankMultivariateNormal(p, eg.ones([p.shape.at(-1), 1], { dtype: "float64" }), p),
    MultivariateNormal: (p) =>
      new MultivariateNormal(p, { scaleTril: eg.eye(p.shape.at(-1), { dtype: "float64" }) }),
    NegativeBinomial: (p) => new NegativeBinomial(5, p),
    Normal: (p) => new Normal(p, 1),
    OneHotCategorical: (p) => new OneHotCategorical(p),
    Pareto: (p) => new Pareto(p, 1),
    Poisson: (p) => new Poisson(p.mul(50)),
    RelaxedBernoulli: (p) => new RelaxedBernoulli(T(0.5), p),
    RelaxedOneHotCategorical: (p) => new RelaxedOneHotCategorical(T(0.5), p),
    StudentT: (p) => new StudentT(p.add(3)),
    Uniform: (p) => new Uniform(p, 2),
    VonMises: (p) => new VonMises(p, 1),
    Weibull: (p) => new Weibull(p, 1),
    Wishart: (p) => new Wishart(p.add(3), { covarianceMatrix: eg.eye(2, { dtype: "float64" }) }),
  };
  const kCount = 24;
  const one = () => eg.full([kCount], 0.4, { dtype: "float64" });
  const many = () => eg.full([6, kCount], 0.4, { dtype: "float64" });
  for (const [name, make] of Object.entries(made)) {
    for (const method of ["sample", "rsample"]) {
      test(`${name}.${method}`, () => {
        const draw = (p) => make(p)[method]();
        if (method === "rsample" && !make(one()).hasRsample) return;
        // Rejection sampling, which repeats until all samples are accepted, reads values, as in PyTorch.
        const looks = name === "VonMises";
        const rowsOf = (fn, randomness) => vmap(fn, { randomness })(many()).arraySync();
        const textsOf = (rows) => new Set(rows.map((row) => JSON.stringify(row))).size;
        const outside = draw(one());
        for (const fn of looks ? [] : [draw, () => draw(one())]) {
          const rows = rowsOf(fn, "different");
          assert.ok(textsOf(rows) > 1, "different");
          assert.deepEqual(eg.tensor(rows).shape, [6, ...outside.shape]);
        }
        assert.equal(textsOf(rowsOf(() => draw(one()), "same")), 1, "same");
        assertThrows(() => rowsOf(() => draw(one()), "error"), "InvalidArgument", /randomness/);
        // For parameters that differ by sample: the same numbers for all samples, or an error.
        try {
          assert.equal(textsOf(rowsOf(draw, "same")), 1);
        } catch (error) {
          assert.equal(error.code, "InvalidArgument");
        }
      });
    }
  }
});
