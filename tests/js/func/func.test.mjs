// eg.func: derivatives of functions, alone, nested and with vmap.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { func, nn } = eg;
const { grad, gradAndValue, vjp, jvp, linearize, jacrev, jacfwd, hessian, vmap } = func;
const double = (data) => eg.tensor(data, { dtype: "float64" });

describe("grad", () => {
  test("of a tree, with more than one argument, and with aux", () => {
    const { a, b } = grad((p) => p.a.mul(p.b[0]).sum())({ a: double([1, 2]), b: [double([3, 4])] });
    assertTensor(a, [3, 4]);
    assertTensor(b[0], [1, 2]);
    const [x, y] = grad((p, q) => p.mul(q), { argnums: [0, -1] })(double(2), double(3));
    assertTensor(x, [3]);
    assertTensor(y, [2]);
    const [gradient, [value, aux]] = gradAndValue((p) => [p.mul(p), { root: p.sqrt() }], {
      hasAux: true,
    })(double(4));
    assertTensor(gradient, [8]);
    assertTensor(value, [16]);
    assertTensor(aux.root, [2]);
    for (const tensor of [gradient, value, aux.root]) assert.equal(tensor.requiresGrad, false);
  });

  test("nests to any depth, without mixing levels up", () => {
    assertTensor(grad(grad(grad((x) => x.pow(4))))(double(2)), [48]);
    assertTensor(grad((x) => x.mul(grad((y) => x.add(y))(double(1))))(double(1)), [1]);
    assertTensor(grad((x) => x.mul(grad((y) => x.mul(y))(double(5))))(double(3)), [6]);
  });

  test("leads on to what requires a gradient outside, and only to that", () => {
    const w = double(3).requiresGrad_();
    const gradient = grad((x) => x.mul(x).mul(w))(double(2));
    gradient.backward();
    assertTensor(w.grad, [4]);
    const x = double(2).requiresGrad_();
    grad((one) => one.pow(3))(x).backward();
    assertTensor(x.grad, [12]);
    assert.equal(grad((one) => one.mul(one))(double(2)).requiresGrad, false);
    assert.equal(eg.noGrad(() => grad((one) => one.mul(w))(double(2))).requiresGrad, false);
  });

  test("says what is wrong", () => {
    const x = double([1, 2]);
    assertThrows(
      () => grad((one) => one)(x),
      "NonScalarBackward",
      /return a scalar, got a tensor with 1 dim.*vjp/,
    );
    assertThrows(
      () => grad((one) => one.sum(), { argnums: 1 })(x),
      "InvalidArgument",
      /argnums: got 1/,
    );
    assertThrows(() => grad((one) => one.sum(), { argnum: 1 }), "InvalidArgument", /argnums/);
    assertThrows(() => grad(() => 3)(x), "InvalidArgument", /return a single tensor/);
    assertThrows(
      () => grad((one) => one.sum())(eg.tensor([1], { dtype: "int64" })),
      "NotDifferentiable",
      /int64/,
    );
    assertThrows(
      () => grad((one) => one.sum(), { hasAux: true })(x),
      "InvalidArgument",
      /\[result, aux\]/,
    );
    assertTensor(grad(() => double(1))(x), [0, 0]);
  });

  test("refuses arguments that are named twice, or none", () => {
    const f = (x, y) => x.mul(y).sum();
    const [x, y] = [double([1, 2]), double([3, 4])];
    for (const transform of [grad, gradAndValue, jacrev, jacfwd, hessian]) {
      for (const argnums of [
        [0, 0],
        [0, -2],
        [1, -1],
        [-1, 0, 1],
      ]) {
        assertThrows(() => transform(f, { argnums })(x, y), "InvalidArgument", /argnums:.*twice/);
      }
      assertThrows(() => transform(f, { argnums: [] })(x, y), "InvalidArgument", /argnums/);
    }
  });

  test("refuses complex results, as backward() does", () => {
    const z = eg.complex(double([1]), double([1]));
    assertThrows(() => grad((one) => one.sum())(z), "NonScalarBackward", /real number.*complex128/);
    assertThrows(() => gradAndValue((one) => z.mul(one).sum())(double(1)), "NonScalarBackward");
    assertTensor(grad((one) => one.mul(one).abs().sum())(z).real(), [2]);
  });
});

describe("a function that changes a tensor from outside", () => {
  const x = double([1, 2]);
  const tangent = double([1, 1]);
  const kTransforms = {
    grad: (f) => grad(f)(x),
    gradAndValue: (f) => gradAndValue(f)(x),
    vjp: (f) => vjp(f, x),
    jvp: (f) => jvp(f, [x], [tangent]),
    linearize: (f) => linearize(f, x),
    jacrev: (f) => jacrev(f)(x),
    jacfwd: (f) => jacfwd(f)(x),
    hessian: (f) => hessian(f)(x),
    "vmap of grad": (f) => vmap(grad(f))(eg.stack([x, x])),
    "grad of vmap": (f) => grad((one) => vmap(f)(one).sum())(eg.stack([x, x])),
  };
  const kChanges = {
    add_: (c) => c.add_(1),
    copy_: (c, one) => c.copy_(one),
    fill_: (c) => c.fill_(3),
    zero_: (c) => c.zero_(),
    set_: (c) => c.set_([0], 1),
    uniform_: (c) => c.uniform_(),
    unsqueeze_: (c) => c.unsqueeze_(0),
    detach_: (c) => c.detach_(),
    polygamma_: (c) => c.polygamma_(1),
    "add_ without recording": (c) => eg.noGrad(() => c.add_(1)),
    "mul_ of a view": (c) => c.narrow(0, 0, 1).mul_(2),
    "ones_ of nn.init": (c) => nn.init.ones_(c),
  };
  const refused = (run) => assertThrows(run, "InvalidArgument", /not among its arguments/);

  test("is refused by every transform", () => {
    for (const [name, transform] of Object.entries(kTransforms)) {
      const c = double([5, 6]);
      refused(() =>
        transform((one) => {
          c.add_(1);
          return one.sin().sum();
        }),
      );
      assertTensor(c, [5, 6], name);
    }
  });

  test("is refused for every change", () => {
    for (const [name, change] of Object.entries(kChanges)) {
      const c = double([5, 6]);
      const f = (one) => {
        change(c, one);
        return one.sin().sum();
      };
      if (name === "uniform_") refused(() => grad(f)(x));
      else for (const transform of [kTransforms.grad, kTransforms.jvp]) refused(() => transform(f));
      assert.deepEqual(c.arraySync(), [5, 6], name);
    }
  });

  test("may change its arguments, and what it makes", () => {
    const f = (one, other) => {
      other.add_(one);
      const made = eg.zerosLike(one);
      made.add_(other);
      made.narrow(0, 0, 1).mul_(2);
      return made.mul(made).sum();
    };
    assertTensor(grad(f)(x, double([1, 1])), [16, 6]);
    assertTensor(
      grad((one, { b }) => f(one, b))(x, { b: double([9, 1, 1]).narrow(0, 1, 2) }),
      [16, 6],
    );
    assertTensor(
      vmap(grad(f))(eg.stack([x, x]), eg.ones([2, 2], { dtype: "float64" })),
      [16, 6, 16, 6],
    );
  });

  test("is refused inside another transform, by either", () => {
    const changing = (two, d) => two.pow(2).sum().mul(d.add_(1).sum());
    const c = double([1, 1]);
    refused(() => grad((one) => grad(changing)(one, c).sum())(x));
    refused(() =>
      grad((one) => {
        const made = eg.zerosLike(one);
        return grad((two) => changing(two, made))(one).sum();
      })(x),
    );
    assertTensor(c, [1, 1]);
    assertTensor(grad((one) => grad(changing)(one, eg.zerosLike(one)).sum())(x), [4, 4]);
  });

  test("a pullback made without recording has derivatives where operations are recorded", () => {
    const x = double(3).requiresGrad_();
    const [value, pull] = eg.noGrad(() => func.vjp((one) => one.pow(3), x));
    assert.equal(value.requiresGrad, false);
    assert.equal(eg.noGrad(() => pull(double(1)))[0].requiresGrad, false);
    const [gradient] = pull(double(1));
    assertTensor(gradient, [27]);
    assertTensor(eg.autograd.grad(gradient, [x])[0], [18]);
    assert.equal(eg.noGrad(() => grad((one) => one.pow(3))(x)).requiresGrad, false);
  });

  test("may train batch norm whose buffers it gets", () => {
    const layer = new nn.BatchNorm1d(2).double();
    const input = double([
      [1, 2],
      [3, 5],
    ]);
    const parameters = Object.fromEntries(layer.namedParameters());
    const buffers = Object.fromEntries(layer.namedBuffers());
    const loss = (...trees) => func.functionalCall(layer, trees, [input]).sum();
    refused(() => grad(loss)(parameters));
    assertTensor(grad(loss)(parameters, buffers).bias, [2, 2]);
    layer.eval();
    assertTensor(grad(loss)(parameters).bias, [2, 2]);
  });

  test("may store a tensor in the place of one that it got, which the object by name then has", () => {
    class Counting extends nn.Module {
      steps = new nn.Buffer(double([0]));
      forward(x) {
        this.steps = this.steps.add(1);
        return x.add(this.steps);
      }
    }
    const layer = new Counting();
    const steps = double([2]);
    const others = {};
    const buffers = { steps };
    assertTensor(func.functionalCall(layer, [others, buffers], [double([1])]), [4]);
    assertTensor(layer.steps, [0]);
    assertTensor(buffers.steps, [3]);
    assertTensor(steps, [2]);
    assert.deepEqual(others, {});
  });
});

describe("products and matrices", () => {
  test("of complex numbers have no single Jacobian", () => {
    const z = eg.complex(double([1]), double([1]));
    for (const transform of [jacrev, jacfwd, hessian]) {
      assertThrows(() => transform((one) => one.mul(one))(z), "DtypeMismatch", /real inputs/);
      assertThrows(
        () => transform((one) => one.mul(z))(double([1])),
        "DtypeMismatch",
        /real results/,
      );
    }
    assertThrows(() => jvp(() => z, [], []), "InvalidArgument", /at least one tensor/);
  });

  // torch.autograd.functional.hessian
  const kPoint = double([0.1, 0.2, 0.3]);
  const f = (x) => x.sin().mul(x.roll(1)).sum().exp();
  const kHessian = [
    0.2422259758939262, 1.3110112647612802, 1.2707736819041173, 1.3110112647612804,
    0.1505310770633481, 1.1929217540748602, 1.2707736819041169, 1.1929217540748602,
    0.02845578548357673,
  ];

  test("hessian, by every pair of modes", () => {
    const close = { shape: [3, 3], atol: 1e-12 };
    assertTensor(hessian(f)(kPoint), kHessian, close);
    for (const outer of [jacrev, jacfwd]) {
      for (const inner of [jacrev, jacfwd]) assertTensor(outer(inner(f))(kPoint), kHessian, close);
    }
    assertTensor(vmap(hessian(f))(kPoint.expand([2, 3])), [...kHessian, ...kHessian], {
      atol: 1e-12,
    });
  });

  test("jacobians of trees have a tree per result", () => {
    const g = (p) => [p.a.outer(p.b), p.a.sum()];
    const point = { a: double([1, 2]), b: double([3, 4, 5]) };
    for (const jacobian of [jacrev, jacfwd]) {
      const [outer, sum] = jacobian(g)(point);
      assert.deepEqual(outer.a.shape, [2, 3, 2]);
      assert.deepEqual(outer.b.shape, [2, 3, 3]);
      assertTensor(sum.a, [1, 1]);
      assertTensor(sum.b, [0, 0, 0]);
    }
  });

  test("Jacobians take PyTorch's options", () => {
    const f = (x) => x.sin().mul(x.sum());
    const expected = jacrev(f)(kPoint).detach().dataSync();
    assertTensor(jacrev(f, { chunkSize: 2 })(kPoint), expected);
    assertTensor(jacfwd(f, 0, false, { randomness: "same" })(kPoint), expected, {
      rtol: 1e-9,
      atol: 1e-12,
    });
    const refused = (make, problem) => assertThrows(make, "InvalidArgument", problem);
    refused(() => jacrev(f, { chunkSize: 0 }), /chunkSize: expected a whole number from 1/);
    refused(() => jacfwd(f, { randomness: "different" }), /one of "error", "same"/);
    refused(() => jacfwd(f, { chunk_size: 1 }), /unknown option/);
  });

  test("vjp and jvp agree with the matrix; what vjp returns can be mapped", () => {
    const matrix = jacrev((x) => x.sin().mul(x.sum()))(kPoint);
    const [value, pull] = vjp((x) => x.sin().mul(x.sum()), kPoint);
    const [rows] = vmap(pull)(eg.eye(3, { dtype: "float64" }));
    assertTensor(rows, matrix.dataSync(), { atol: 1e-14 });
    const v = double([1, -2, 0.5]);
    const [same, product] = jvp((x) => x.sin().mul(x.sum()), [kPoint], [v]);
    assertTensor(same, value.dataSync());
    assertTensor(product, matrix.matmul(v).dataSync(), { atol: 1e-14 });
    const [, push] = linearize((x) => x.sin().mul(x.sum()), kPoint);
    assertTensor(push(v), product.dataSync());
    assertTensor(vmap(push)(eg.stack([v, v])), [...product.dataSync(), ...product.dataSync()]);
    assert.deepEqual(
      pull(v).map((one) => one.shape),
      [[3]],
      "as in PyTorch, a list also for one input",
    );
    assertThrows(() => pull(double([1])), "ShapeMismatch", /cotangents/);
    assertThrows(() => jvp((x) => x, [kPoint], [double([1])]), "ShapeMismatch", /tangents/);
    assertThrows(() => jvp((x) => x, kPoint, [v]), "InvalidArgument", /primals/);
    const outside = double([1, 2, 3]).requiresGrad_();
    const constant = (x) => [x.mul(2), outside.mul(2)];
    assertTensor(jvp(constant, [kPoint], [v])[1][1], [0, 0, 0]);
    const independent = /result of fn does not depend.*strict: true/;
    const strict = { strict: true };
    assertThrows(() => jvp(constant, [kPoint], [v], strict), "NotDifferentiable", independent);
    const sum = (x) => x.add(outside);
    assertTensor(jvp(sum, [kPoint], [v], strict)[1], v.dataSync());
  });

  test("what vjp and linearize return has a derivative by its arguments, in every transform", () => {
    const [x, c, t] = [double([0.5, 1]), double([2, -1]), double([3, 4])];
    const slopes = x.cos();
    const [, pull] = vjp((one) => one.sin(), x);
    const [, pullOfGrad] = vjp(
      grad((one) => one.cos().neg().sum()),
      x,
    );
    const [, push] = linearize((one) => one.sin(), x);
    const { makeDual, unpackDual, dualLevel } = eg.autograd.forwardAd;
    for (const f of [(one) => pull(one)[0], (one) => pullOfGrad(one)[0], push]) {
      const dot = (one) => f(one).mul(t).sum();
      const leaf = c.clone().requiresGrad_();
      dot(leaf).backward();
      const matrix = eg.diag(slopes);
      const twice = double(2);
      for (const [found, wanted] of [
        [leaf.grad, slopes.mul(t)],
        [grad(dot)(c), slopes.mul(t)],
        [gradAndValue(dot)(c)[0], slopes.mul(t)],
        [vmap(grad(dot))(eg.stack([c, t])), slopes.mul(t).expand([2, 2])],
        [grad((all) => vmap(f)(all).sum())(eg.stack([c, t])), slopes.expand([2, 2])],
        [vjp(f, c)[1](t)[0], slopes.mul(t)],
        [jvp(f, [c], [t])[1], slopes.mul(t)],
        [linearize(f, c)[1](t), slopes.mul(t)],
        [jacrev(f)(c), matrix],
        [jacfwd(f)(c), matrix],
        [hessian((one) => f(one).square().sum())(c), matrix.square().mul(2)],
        [dualLevel(() => unpackDual(f(makeDual(c, t))).tangent), slopes.mul(t)],
        [grad((k) => grad((one) => dot(one.mul(k)))(c).sum())(twice), slopes.mul(t).sum()],
      ]) {
        assertTensor(found, wanted.dataSync(), { shape: wanted.shape, atol: 1e-12 });
        assert.equal(found.requiresGrad, false);
      }
    }
  });

  test("what vjp returns leads on to its cotangent and to the primals of an outer transform", () => {
    const inner = (a, c) => vjp((one) => one.sin(), a)[1](c)[0];
    assertTensor(grad((a) => inner(a, a.mul(2)))(double(0.5)), [
      2 * (Math.cos(0.5) - 0.5 * Math.sin(0.5)),
    ]);
    assertTensor(grad((a) => grad((c) => inner(a, c))(double(2)))(double(0.5)), [-Math.sin(0.5)]);
    const w = double(3).requiresGrad_();
    const c = double(2).requiresGrad_();
    const [, pull] = vjp((one) => one.mul(w), double(0.5));
    pull(c)[0].backward();
    assertTensor(w.grad, [2]);
    assertTensor(c.grad, [3]);
    assert.equal(eg.noGrad(() => pull(c)[0]).requiresGrad, false);
    const [, alone] = vjp((one) => one.sin(), double(0.5));
    assert.equal(alone(double(2))[0].requiresGrad, false);
  });

  test("jvp and vmap, either inside of the other; grad of jvp", () => {
    const [x, t] = [double([1, 2]), double([3, 5])];
    const wanted = x.cos().mul(t).dataSync();
    assertTensor(jvp((one) => vmap((y) => y.sin())(one), [x], [t])[1], wanted);
    assertTensor(vmap((y, s) => jvp((one) => one.sin(), [y], [s])[1])(x, t), wanted);
    assertTensor(
      grad((one) => jvp((y) => y.sin(), [one], [t])[1].sum())(x),
      x.sin().mul(t).neg().dataSync(),
    );
    assertTensor(grad((one) => vmap((y) => y.pow(3))(one).sum())(x), [3, 12]);
  });

  test("hasAux of all of them", () => {
    const g = (x) => [x.mul(x), x.add(1)];
    const x = double([1, 2]);
    for (const result of [
      vjp(g, x, { hasAux: true })[2],
      jvp(g, [x], [x], { hasAux: true })[2],
      jacrev(g, { hasAux: true })(x)[1],
      jacfwd(g, { hasAux: true })(x)[1],
    ]) {
      assertTensor(result, [2, 3]);
    }
  });
});

// Per-sample gradients, all at once and one after the other.
function checkPerSample(model, input, target, options = {}) {
  const params = Object.fromEntries(
    model.namedParameters().map(([name, one]) => [name, one.detach()]),
  );
  const loss = (p, x, y) =>
    eg.crossEntropy(func.functionalCall(model, p, [x.unsqueeze(0)]), y.unsqueeze(0));
  const all = vmap(grad(loss), { inDims: [null, 0, 0], ...options })(params, input, target);
  for (let i = 0; i < input.shape[0]; i++) {
    const one = grad(loss)(params, input.at(i), target.at(i));
    for (const name of Object.keys(params)) {
      assertClose(all[name].at(i).dataSync(), one[name].dataSync(), {
        rtol: 1e-4,
        atol: 1e-6,
        what: name,
      });
    }
  }
  return all;
}

describe("networks", () => {
  const withoutWarnings = (fn) => {
    const { warn } = console;
    console.warn = (text) => assert.fail(text);
    try {
      fn();
    } finally {
      console.warn = warn;
    }
  };

  test("per-sample gradients are PyTorch's", () => {
    eg.manualSeed(0);
    const model = new nn.Sequential(new nn.Linear(3, 4), new nn.Tanh(), new nn.Linear(4, 2));
    const input = eg.randn([3, 3]);
    const all = checkPerSample(model, input, eg.tensor([0, 1, 1], { dtype: "int64" }));
    assertTensor(
      all["2.bias"],
      [-0.5262237787, 0.5262237787, 0.5048086047, -0.5048086643, 0.4752559066, -0.4752559662],
      { shape: [3, 2], atol: 1e-6 },
    );
    assertTensor(all["0.weight"].at(1, 0), [0.0010789218, 0.0011862981, 0.0041256677], {
      atol: 1e-6,
    });
  });

  test("per-sample gradients of a convolutional network, without a loop", () => {
    const model = new nn.Sequential(
      new nn.Conv2d(2, 4, 3, { padding: 1 }),
      new nn.GroupNorm(2, 4),
      new nn.ReLU(),
      new nn.MaxPool2d(2),
      new nn.Conv2d(4, 4, 3, { groups: 2 }),
      new nn.GELU(),
      new nn.AdaptiveAvgPool2d(2),
      new nn.Flatten(),
      new nn.Linear(16, 5),
    );
    withoutWarnings(() => checkPerSample(model, eg.randn([4, 2, 8, 8]), eg.randint(0, 5, [4])));
  });

  test("per-sample gradients of a transformer, without a loop", () => {
    class Classifier extends nn.Module {
      embedding = new nn.Embedding(11, 8);
      layer = new nn.TransformerEncoderLayer(8, 2, {
        dimFeedforward: 16,
        dropout: 0,
        batchFirst: true,
      });
      head = new nn.Linear(8, 3);
      forward(tokens) {
        return this.head.call(this.layer.call(this.embedding.call(tokens)).mean(1));
      }
    }
    withoutWarnings(() =>
      checkPerSample(new Classifier(), eg.randint(0, 11, [3, 6]), eg.randint(0, 3, [3])),
    );
  });

  test("per-sample gradients of recurrent layers, without a loop", () => {
    class Last extends nn.Module {
      constructor(layer) {
        super();
        this.layer = layer;
      }
      forward(x) {
        return this.layer.call(x)[0].select(1, -1);
      }
    }
    const options = { batchFirst: true };
    for (const layer of [
      new nn.LSTM(3, 4, options),
      new nn.GRU(3, 4, options),
      new nn.RNN(3, 4, options),
      new nn.RNN(3, 4, { ...options, nonlinearity: "relu", bias: false }),
    ]) {
      withoutWarnings(() =>
        checkPerSample(new Last(layer), eg.randn([2, 5, 3]), eg.randint(0, 4, [2])),
      );
    }
  });

  test("statistics that are updated in place need one for every sample", () => {
    const model = new nn.BatchNorm1d(2);
    const [params, buffers] = func.stackModuleState([model, new nn.BatchNorm1d(2)]);
    const input = eg.randn([2, 5, 2]);
    const run = (p, b, x) => func.functionalCall(model, [p, b], [x]);
    const message = /runningMean and runningVar/;
    assertThrows(() => vmap((x) => model.call(x))(input), "InvalidArgument", message);
    const { warn } = console;
    console.warn = () => {};
    try {
      vmap(run)(params, buffers, input);
    } finally {
      console.warn = warn;
    }
    assertTensor(buffers.running_mean.at(1), input.at(1).mean(0).mul(0.1).dataSync(), {
      atol: 1e-6,
    });
  });

  test("an ensemble is one call, and trains", () => {
    const models = [0, 1, 2].map(
      () => new nn.Sequential(new nn.Linear(2, 4), new nn.BatchNorm1d(4), new nn.ReLU()),
    );
    for (const model of models) model.eval();
    const [params, buffers] = func.stackModuleState(models);
    const input = eg.randn([5, 2]);
    const run = (p, b, x) => func.functionalCall(models[0], [p, b], [x]);
    const output = vmap(run, { inDims: [0, 0, null] })(params, buffers, input);
    assert.deepEqual(output.shape, [3, 5, 4]);
    models.forEach((model, i) => {
      assertClose(output.at(i).dataSync(), model.call(input).dataSync(), { atol: 1e-6 });
    });
    output.sum().backward();
    assert.deepEqual(params["0.weight"].grad.shape, [3, 4, 2]);
    const other = new nn.Linear(2, 2);
    assertThrows(() => func.stackModuleState([]), "InvalidArgument", /at least one model/);
    assertThrows(
      () => func.stackModuleState([models[0], other]),
      "InvalidArgument",
      /training|class/,
    );
  });

  test("functionalCall can be captured", () => {
    const model = new nn.Linear(2, 2);
    const weight = eg.ones([2, 2]);
    const x = eg.tensor([[1, 2]]);
    const step = (input) => func.functionalCall(model, { weight: weight.mul(2) }, [input]);
    const captured = eg.capture(step, x);
    for (const input of [x, eg.tensor([[3, 4]])]) {
      eg.testing.assertClose(captured(input), step(input));
    }
    model.bias = new nn.Parameter(eg.zeros([2]));
    assert.throws(() => captured(x), { code: "InvalidArgument" });
  });

  test("functions of forward mode may write their inputs, which have the values then", () => {
    const write = (x) => x.mul_(2).sin();
    const one = () => eg.tensor(0.5);
    const slope = 2 * Math.cos(1);
    let x = one();
    const [value, tangent] = func.jvp(write, [x], [eg.tensor(3)]);
    assertTensor(value, [Math.sin(1)]);
    assertTensor(tangent, [3 * slope]);
    assert.equal(x.item(), 1);
    x = one();
    const [, push] = func.linearize(write, x);
    assertTensor(push(eg.tensor(1)), [slope]);
    assertTensor(push(eg.tensor(2)), [2 * slope]);
    assert.equal(x.item(), 1);
    x = one();
    assertTensor(func.jacfwd(write)(x), [slope]);
    assertTensor(func.jacfwd(func.jacfwd(write))(one()), [-4 * Math.sin(1)]);
    const batch = eg.tensor([0.5, 1]);
    const mapped = func.vmap((sample) => func.jvp(write, [sample], [eg.ones([])])[1])(batch);
    assertTensor(mapped, [slope, 2 * Math.cos(2)]);
    assertTensor(batch, [1, 2]);
    x = one();
    const broken = (input) => {
      input.mul_(2);
      throw new RangeError("stop");
    };
    assert.throws(() => func.jvp(broken, [x], [eg.tensor(1)]), RangeError);
    assert.equal(x.item(), 0.5);
    for (const f of [func.grad(write), func.jacrev(write), (input) => func.vjp(write, input)]) {
      assertThrows(() => f(one()), "LeafInPlace");
    }
    const leaf = one().requiresGrad_();
    assertThrows(() => func.jvp(write, [leaf], [eg.tensor(1)]), "LeafInPlace");
  });

  test("functionalCall takes both names of a shared module or parameter", () => {
    const shared = new nn.Linear(2, 2, { bias: false });
    const model = new nn.Sequential(shared, new nn.ReLU(), shared);
    const tied = new nn.Sequential(...[0, 1].map(() => new nn.Linear(2, 2, { bias: false })));
    tied.at(1).weight = tied.at(0).weight;
    const x = eg.ones([1, 2]);
    for (const one of [model, tied]) {
      const state = one.stateDict();
      const [first, second] = Object.keys(state);
      assertTensor(func.functionalCall(one, state, x), one.call(x).dataSync());
      const own = eg.eye(2).mul(3).requiresGrad_();
      for (const given of [{ [first]: own }, { [second]: own }, { [first]: own, [second]: own }]) {
        const y = func.functionalCall(one, given, x, null, { strict: true });
        assertTensor(y, [9, 9]);
        own.grad = null;
        y.sum().backward();
        assertTensor(own.grad, [6, 6, 6, 6]);
      }
      assertThrows(
        () => func.functionalCall(one, { [first]: own, [second]: own.clone() }, x),
        "InvalidArgument",
        new RegExp(`"${first}" and "${second}" are one tensor of the module`),
      );
      assert.deepEqual(Object.keys(one.stateDict()), [first, second]);
    }
    const other = eg.eye(2);
    const given = { "0.weight": other.mul(2), "1.weight": other };
    const untied = func.functionalCall(tied, given, x, null, { tieWeights: false });
    assertTensor(untied, [2, 2]);
    const contradiction = { "0.weight": other.mul(2), "2.weight": other };
    assertThrows(
      () => func.functionalCall(model, contradiction, x, null, { tieWeights: false }),
      "InvalidArgument",
      /Pass the same tensor for both, or only one of them\.$/,
    );
  });

  test("functionalCall leaves the module as it was, ties included", () => {
    class Tied extends nn.Module {
      a = new nn.Linear(2, 2, { bias: false });
      b = new nn.Linear(2, 2, { bias: false });
      constructor() {
        super();
        this.b.weight = this.a.weight;
      }
      forward(x) {
        return this.b.call(this.a.call(x));
      }
    }
    const model = new Tied();
    const own = model.a.weight;
    const weight = eg.eye(2).mul(3);
    const x = eg.ones([1, 2]);
    assertTensor(func.functionalCall(model, { "a.weight": weight }, x), [9, 9]);
    assert.equal(model.a.weight, own);
    assert.equal(model.b.weight, own);
    assert.deepEqual(
      model.namedParameters().map(([name]) => name),
      ["a.weight"],
    );
    assertThrows(
      () => func.functionalCall(model, { weight }, x),
      "InvalidArgument",
      /no parameter or buffer "weight"/,
    );
    assertThrows(
      () => func.functionalCall(model, {}, x, null, { strict: true }),
      "InvalidArgument",
      /strict: true requires/,
    );
    assertThrows(
      () => func.functionalCall(model, [{ "a.weight": weight }, { "a.weight": weight }], x),
      "InvalidArgument",
      /"a\.weight" is in more than one/,
    );
    assertThrows(
      () => func.functionalCall(model, { "a.weight": 3 }, x),
      "InvalidArgument",
      /a tensor/,
    );
    const failing = () => func.functionalCall(model, { "a.weight": eg.ones([3, 3]) }, x);
    assert.throws(failing);
    assert.equal(model.a.weight, own);
  });

  test("MAML: the gradient through a step on every task", () => {
    // Computed by PyTorch with torch.manual_seed(3), one task after the other.
    const w = double([0.8032760780963506, 0.17483339327910355]);
    const xs = eg.linspace(-1, 1, 8, { dtype: "float64" }).reshape([2, 4]);
    const loss = (p, x) => p.at(0).mul(x).add(p.at(1)).sub(x.sin()).square().mean();
    const adapted = (p, x) => loss(p.sub(grad(loss)(p, x).mul(0.1)), x);
    const total = (p) => vmap(adapted, { inDims: [null, 0] })(p, xs).sum();
    const [gradient, value] = gradAndValue(total)(w);
    assertTensor(value, [0.03723642371761053], { atol: 1e-12 });
    assertTensor(gradient, [-0.06823463117936827, 0.3784149013714474], { atol: 1e-12 });
  });
});
