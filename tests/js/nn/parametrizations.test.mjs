// nn.utils: parameters that are computed from others, and all parameters as one vector. Reference values are PyTorch's.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const { parametrize, parametrizations } = nn.utils;
const kGolden = JSON.parse(
  readFileSync(new URL("../../golden/parametrizations.json", import.meta.url), "utf8"),
);
const keysOf = (module) => Object.keys(module.stateDict());

function assertState(module, expected) {
  assert.deepEqual(keysOf(module), Object.keys(expected));
  for (const [key, value] of Object.entries(module.stateDict())) {
    assertClose(value.dataSync(), expected[key], { what: key, rtol: 1e-5, atol: 1e-6 });
  }
}

function wave(shape, phase, scale) {
  const count = shape.reduce((product, size) => product * size, 1);
  const values = Float64Array.from({ length: count }, (_, i) => Math.sin(i * 0.7 + phase) * scale);
  return eg.tensor(values).reshape(shape);
}

class Symmetric extends nn.Module {
  forward(x) {
    return x.triu().add(x.triu(1).t());
  }
}

class Doubled extends nn.Module {
  forward(x) {
    return x.mul(2);
  }

  rightInverse(x) {
    return x.div(2);
  }
}

describe("registerParametrization", () => {
  test("computes a parameter from another at each use", () => {
    const layer = new nn.Linear(2, 2);
    const original = layer.weight;
    const result = parametrize.registerParametrization(layer, "weight", new Symmetric());
    assert.equal(result, layer);
    assert.deepEqual(keysOf(layer), ["bias", "parametrizations.weight.original"]);
    assert.equal(layer.getParameter("parametrizations.weight.original"), original);
    const [[a, b], [c, d]] = layer.weight.arraySync();
    assert.equal(b, c);
    const x = eg.randn([3, 2]);
    assertTensor(layer.call(x), nn.functional.linear(x, layer.weight, layer.bias).dataSync());
    layer
      .call(eg.ones([1, 2]))
      .sum()
      .backward();
    assertTensor(original.grad, [1, 2, 0, 1]);
    assert.ok(parametrize.isParametrized(layer) && parametrize.isParametrized(layer, "weight"));
    assert.ok(!parametrize.isParametrized(layer, "bias"));
    parametrize.removeParametrizations(layer, "weight");
    assert.ok(!parametrize.isParametrized(layer) && layer.weight instanceof nn.Parameter);
    assert.deepEqual(keysOf(layer), ["bias", "weight"]);
    assertTensor(layer.weight, [a, b, c, d]);
  });

  test("applies several in order, and assignments in reverse order", () => {
    const layer = new nn.Linear(2, 2, { bias: false });
    const before = layer.weight.dataSync();
    parametrize.registerParametrization(layer, "weight", new Doubled());
    assertTensor(layer.weight, before);
    parametrize.registerParametrization(layer, "weight", new Doubled());
    assertTensor(
      layer.weight,
      before.map((value) => 2 * value),
    );
    layer.weight = eg.ones([2, 2]);
    assertTensor(layer.weight, [1, 1, 1, 1]);
    assertTensor(layer.parametrizations.get("weight").original, [0.25, 0.25, 0.25, 0.25]);
    const copy = layer.clone();
    copy.weight = eg.zeros([2, 2]);
    assertTensor(layer.weight, [1, 1, 1, 1]);
    assertTensor(copy.call(eg.ones([1, 2])), [0, 0]);
    parametrize.removeParametrizations(layer, "weight", { leaveParametrized: false });
    assertTensor(layer.weight, [0.25, 0.25, 0.25, 0.25]);
  });

  test("refuses what it cannot compute, and leaves the module as it was", () => {
    const layer = new nn.Linear(2, 3);
    const register = (name, module, ...rest) =>
      parametrize.registerParametrization(layer, name, module, ...rest);
    assertThrows(
      () => register("wight", new Doubled()),
      "InvalidArgument",
      /no parameter or buffer "wight"/,
    );
    const flat = new nn.Flatten(0);
    assertThrows(
      () => register("weight", flat),
      "InvalidArgument",
      /changes the tensor from .* unsafe/,
    );
    assert.deepEqual(keysOf(layer).sort(), ["bias", "weight"]);
    register("weight", flat, { unsafe: true });
    assert.deepEqual(layer.weight.shape, [6]);
    assertThrows(
      () => parametrize.removeParametrizations(layer, "bias"),
      "InvalidArgument",
      /no parametrization of "bias"/,
    );
  });

  test("of a recurrent layer", () => {
    const layer = new nn.GRU(2, 3);
    const x = eg.randn([4, 2]);
    const [expected] = layer.call(x);
    parametrizations.weightNorm(layer, "weight_hh_l0");
    assertTensor(layer.call(x)[0], expected.dataSync(), { atol: 1e-5 });
  });
});

describe("weightNorm", () => {
  test("learns norms and directions apart", () => {
    const layer = new nn.Linear(3, 2, { dtype: "float64" });
    layer.weight.detach().copy_(wave([2, 3], 1, 0.5));
    layer.bias.detach().copy_(wave([2], 2, 0.5));
    const copy = layer.clone();
    nn.utils.weightNorm(layer);
    const { keys, g, gGrad, vGrad } = kGolden.wn;
    assert.deepEqual(keysOf(layer), keys);
    assertTensor(layer.weight_g, g, { shape: [2, 1], rtol: 1e-8 });
    const x = wave([2, 3], 0, 1);
    const factors = eg.arange(4).reshape([2, 2]);
    layer.call(x).mul(factors).sum().backward();
    assertTensor(layer.weight_g.grad, gGrad, { rtol: 1e-7 });
    assertTensor(layer.weight_v.grad, vGrad, { rtol: 1e-7 });
    const expected = layer.call(x).dataSync();
    assert.deepEqual(keysOf(nn.utils.removeWeightNorm(layer)), ["bias", "weight"]);
    assertTensor(layer.call(x), expected);
    assertThrows(
      () => nn.utils.removeWeightNorm(layer),
      "InvalidArgument",
      /Linear has no weightNorm/,
    );

    parametrizations.weightNorm(copy);
    assert.deepEqual(keysOf(copy), [
      "bias",
      "parametrizations.weight.original0",
      "parametrizations.weight.original1",
    ]);
    copy.call(x).mul(factors).sum().backward();
    const { original0, original1 } = copy.parametrizations.get("weight");
    assertTensor(original0.grad, gGrad, { rtol: 1e-7 });
    assertTensor(original1.grad, vGrad, { rtol: 1e-7 });
  });

  test("with one norm of all", () => {
    const layer = new nn.Linear(3, 2, { dtype: "float64" });
    layer.weight.detach().copy_(wave([2, 3], 1, 0.5));
    nn.utils.weightNorm(layer, { dim: null });
    const [shape, norm] = kGolden.wnAll;
    assertTensor(layer.weight_g, norm, { shape, rtol: 1e-8 });
  });
});

describe("spectralNorm", () => {
  const close = { rtol: 1e-5, atol: 1e-6 };

  test("divides by the largest singular value", () => {
    eg.manualSeed(3);
    const layer = parametrizations.spectralNorm(new nn.Linear(3, 4));
    assertState(layer, kGolden.linear);
    const x = eg.ones([2, 3]);
    const output = layer.call(x);
    assertTensor(output, kGolden.linearOutput, close);
    output.sum().backward();
    const list = layer.parametrizations.get("weight");
    assertTensor(list.original.grad, kGolden.linearGrad, close);
    layer.eval();
    const u = list.at(0)._u.dataSync();
    assertTensor(layer.call(x), kGolden.evalOutput, close);
    assertTensor(list.at(0)._u, u);
    const [, values] = eg.svd(layer.weight);
    assert.ok(Math.abs(values.at(0).item() - 1) < 1e-4);
  });

  test("along the outputs of a transposed convolution", () => {
    eg.manualSeed(3);
    const layer = parametrizations.spectralNorm(new nn.ConvTranspose1d(2, 3, 2));
    assertState(layer, kGolden.conv);
    assertTensor(layer.weight, kGolden.convWeight, close);
    const names = { n_power_iterations: 2 };
    assertThrows(
      () => parametrizations.spectralNorm(new nn.Linear(1, 1), names),
      "InvalidArgument",
      /mean "nPowerIterations"/,
    );
  });
});

test("spectralNorm of nn.utils divides the weight before each call", () => {
  const close = { rtol: 1e-5, atol: 1e-6 };
  const { state, output, grad, u, evaluation } = kGolden.spectralHook;
  eg.manualSeed(3);
  const layer = nn.utils.spectralNorm(new nn.Linear(3, 4), { nPowerIterations: 2 });
  assertState(layer, state);
  const x = eg.ones([2, 3]);
  const result = layer.call(x);
  assertTensor(result, output, close);
  result.sum().backward();
  assertTensor(layer.weight_orig.grad, grad, close);
  assertTensor(layer.weight_u, u, close);
  layer.eval();
  assertTensor(layer.call(x), evaluation, close);
  assertTensor(layer.clone().call(x), evaluation, close);
  assertThrows(
    () => nn.utils.spectralNorm(layer),
    "InvalidArgument",
    /no parameter or buffer "weight"/,
  );
});

describe("orthogonal", () => {
  const close = { rtol: 1e-7, atol: 1e-7 };
  for (const { shape, options, weight, moved, grad, keys } of kGolden.orthogonal) {
    test(`${shape} ${JSON.stringify(options)}`, () => {
      eg.manualSeed(3);
      const layer = new nn.Linear(shape[1], shape[0], { bias: false }).double();
      layer.weight.detach().copy_(wave(shape, 1, 0.5));
      parametrizations.orthogonal(layer, options);
      assertTensor(layer.weight, weight, { shape, ...close });
      assert.deepEqual(keysOf(layer), keys);
      const { original } = layer.parametrizations.get("weight");
      const isHouseholder = options.orthogonalMap
        ? options.orthogonalMap === "householder"
        : shape[0] !== shape[1];
      const step = wave(shape, 2, 0.3);
      const isTall = shape[0] >= shape[1];
      // A diagonal matrix of signs remains one.
      original.detach().add_(isHouseholder ? (isTall ? step.tril(-1) : step.triu(1)) : step);
      assertTensor(layer.weight, moved, close);
      layer.weight
        .mul(wave(shape, 0.2, 1))
        .sum()
        .backward();
      assertTensor(original.grad, grad, close);
      const [rows, columns] = [layer.weight, layer.weight.t()];
      const product = isTall ? columns.matmul(rows) : rows.matmul(columns);
      assertTensor(product, eg.eye(Math.min(...shape)).dataSync(), { atol: 1e-7 });
    });
  }

  test("takes any orthogonal matrix, and says where it cannot", () => {
    const layer = parametrizations.orthogonal(new nn.Linear(2, 2, { bias: false }));
    layer.weight = eg.tensor([
      [0, 1],
      [-1, 0],
    ]);
    assertTensor(layer.weight, [0, 1, -1, 0], { atol: 1e-6 });
    const plain = new nn.Linear(2, 2, { bias: false });
    parametrizations.orthogonal(plain, "weight", "cayley", false);
    assertThrows(
      () => {
        plain.weight = eg.eye(2);
      },
      "InvalidArgument",
      /_Orthogonal has no rightInverse/,
    );
    const refused = (name, message, code = "InvalidArgument") =>
      assertThrows(() => parametrizations.orthogonal(new nn.Linear(2, 2), { name }), code, message);
    refused("wight", /no parameter or buffer "wight"/);
    refused("bias", /expected a matrix/, "ShapeMismatch");
  });
});

describe("parametrize", () => {
  test("refuses what does not keep the tensor, and leaves the module as it was", () => {
    const { registerParametrization, isParametrized } = eg.nn.utils.parametrize;
    const parametrization = (members) => {
      class Own extends eg.nn.Module {
        forward(x) {
          return x;
        }
      }
      return Object.assign(new Own(), members);
    };
    const wrong = [
      [{ forward: (x) => [x, x] }, /must return a tensor, got/],
      [{ forward: (x) => x.bool() }, /to bool \[2, 3\]/],
      [{ rightInverse: () => null }, /rightInverse\(\) of Own must return a tensor/],
      [{ rightInverse: (x) => [null, x] }, /a list of tensors/],
    ];
    for (const [members, message] of wrong) {
      const layer = new eg.nn.Linear(3, 2);
      const own = () => registerParametrization(layer, "weight", parametrization(members));
      assertThrows(own, "InvalidArgument", message);
      assert.equal(isParametrized(layer), false);
      registerParametrization(layer, "weight", parametrization({}));
      assertThrows(own, "InvalidArgument", message);
      assert.equal(layer.parametrizations.weight.length, 1);
    }
    const layer = registerParametrization(new eg.nn.Linear(3, 2), "weight", parametrization({}));
    const changing = parametrization({ rightInverse: (x) => x.narrow(0, 0, 1) });
    assertThrows(
      () => registerParametrization(layer, "weight", changing),
      "InvalidArgument",
      /to float32 \[1, 3\]/,
    );
  });

  test("a parametrization has the mode of its module", () => {
    const layer = new eg.nn.Linear(3, 2).eval();
    const dropout = new eg.nn.Dropout(0.5);
    eg.nn.utils.parametrize.registerParametrization(layer, "weight", dropout);
    assert.equal(dropout.training, false);
  });

  test("cached() computes a tensor once", () => {
    let count = 0;
    class Counted extends Doubled {
      forward(x) {
        count++;
        return super.forward(x);
      }
    }
    const layer = new nn.Linear(2, 2);
    parametrize.registerParametrization(layer, "weight", new Counted());
    count = 0;
    const [first, second] = parametrize.cached(() => [layer.weight, layer.weight]);
    assert.equal(first, second);
    assert.equal(count, 1);
    // A value that a scope has freed is computed again.
    parametrize.cached(() => {
      const use = () => eg.scope(() => layer.weight.sum().item());
      assert.equal(use(), use());
    });
    assert.notEqual(layer.weight, layer.weight);
    assert.equal(parametrize.typeBeforeParametrizations(layer), nn.Linear);
  });

  test("one module's go to another, which then shares them", () => {
    const [from, to] = [new nn.Linear(2, 2), new nn.Linear(2, 2)];
    parametrizations.weightNorm(from);
    parametrize.registerParametrization(from, "bias", new Doubled());
    assert.equal(parametrize.transferParametrizationsAndParams(from, to), to);
    assert.deepEqual(keysOf(to), keysOf(from));
    const x = eg.randn([3, 2]);
    assertTensor(to.call(x), from.call(x).dataSync());
    assert.equal(
      to.parametrizations.get("bias").original,
      from.parametrizations.get("bias").original,
    );
    const bare = new nn.Module();
    parametrize.transferParametrizationsAndParams(from, bare, "bias");
    assertTensor(bare.bias, from.bias.dataSync());
    assertThrows(
      () => parametrize.transferParametrizationsAndParams(new nn.ReLU(), to, "weight"),
      "InvalidArgument",
      /no parametrization of "weight"/,
    );
  });
});

test("removeSpectralNorm makes a parameter again", () => {
  const layer = nn.utils.spectralNorm(new nn.Linear(3, 2));
  const x = eg.ones([1, 3]);
  layer.call(x);
  layer.eval();
  const expected = layer.call(x).dataSync();
  assert.equal(nn.utils.removeSpectralNorm(layer), layer);
  assert.deepEqual(keysOf(layer), ["bias", "weight"]);
  assert.ok(layer.weight instanceof nn.Parameter);
  assertTensor(layer.train().call(x), expected);
  assertThrows(
    () => nn.utils.removeSpectralNorm(layer),
    "InvalidArgument",
    /Linear has no spectralNorm/,
  );
});

describe("fusion of a norm into the layer before it", () => {
  const fill = (modules) => {
    modules
      .flatMap((module) => module.double().eval().parameters())
      .forEach((parameter, i) => {
        parameter.detach().copy_(wave(parameter.shape, i + 1, 0.5));
      });
    const norm = modules[1];
    norm.running_mean.copy_(wave([3], 0.3, 0.4));
    norm.running_var.copy_(wave([3], 0.1, 0.3).add(0.5));
    return modules;
  };
  const kCases = {
    conv: [() => new nn.Conv1d(2, 3, 2), (conv, bn) => nn.utils.fuseConvBnEval(conv, bn)],
    transposed: [
      () => new nn.ConvTranspose1d(2, 3, 2, { bias: false }),
      (conv, bn) => nn.utils.fuseConvBnEval(conv, bn, { transpose: true }),
    ],
    linear: [() => new nn.Linear(2, 3), (linear, bn) => nn.utils.fuseLinearBnEval(linear, bn)],
  };
  for (const [name, [make, fuse]] of Object.entries(kCases)) {
    test(name, () => {
      const [layer, norm] = fill([make(), new nn.BatchNorm1d(3)]);
      const fused = fuse(layer, norm);
      assert.ok(fused instanceof layer.constructor && fused !== layer);
      assertTensor(fused.weight, kGolden.fusion[name].weight, { rtol: 1e-7, atol: 1e-9 });
      assertTensor(fused.bias, kGolden.fusion[name].bias, { rtol: 1e-7, atol: 1e-9 });
      const x = name === "linear" ? wave([4, 2], 0, 1) : wave([4, 2, 5], 0, 1);
      assertTensor(fused.call(x), norm.call(layer.call(x)).dataSync(), { atol: 1e-9 });
      assertThrows(
        () => fuse(layer, norm.train()),
        "InvalidArgument",
        /must be in evaluation mode.*eval/,
      );
    });
  }
});

test("getTotalNorm and clipGradsWithNorm_ are the halves of clipGradNorm_", () => {
  const withGrad = (values) => {
    const parameter = eg.zeros([2], { requiresGrad: true });
    parameter.grad = eg.tensor(values);
    return parameter;
  };
  const make = () => [withGrad([3, 0]), withGrad([0, 4]), eg.zeros([1], { requiresGrad: true })];
  const [whole, halves] = [make(), make()];
  const total = nn.utils.clipGradNorm_(whole, 1);
  const gradients = halves.flatMap(({ grad }) => grad ?? []);
  assertTensor(nn.utils.getTotalNorm(gradients), [5], { shape: [] });
  assertTensor(nn.utils.getTotalNorm(gradients, Number.POSITIVE_INFINITY), [4]);
  assertTensor(nn.utils.getTotalNorm([]), [0]);
  nn.utils.clipGradsWithNorm_(halves, 1, total);
  for (const i of [0, 1]) assertTensor(halves[i].grad, whole[i].grad.dataSync());
  assertThrows(
    () => nn.utils.getTotalNorm(eg.tensor([Number.NaN]), { errorIfNonfinite: true }),
    "InvalidArgument",
    /infinite or NaN/,
  );
});

test("a weight may have another norm after the one that was removed", () => {
  const layer = nn.utils.weightNorm(new nn.Linear(3, 2));
  layer.call(eg.ones([1, 3]));
  nn.utils.spectralNorm(nn.utils.removeWeightNorm(layer));
  assert.deepEqual(layer.call(eg.ones([1, 3])).shape, [1, 2]);
  assert.deepEqual(
    layer.namedParameters().map(([name]) => name),
    ["bias", "weight_orig"],
  );
});

describe("parameters as a vector", () => {
  test("are read from it again", () => {
    const model = new nn.Linear(2, 3);
    const vector = nn.utils.parametersToVector(model.parameters());
    assertTensor(vector, [...model.weight.dataSync(), ...model.bias.dataSync()], { shape: [9] });
    nn.utils.vectorToParameters(eg.arange(9), model.parameters());
    assertTensor(model.weight, [0, 1, 2, 3, 4, 5]);
    assertTensor(model.bias, [6, 7, 8]);
    vector.sum().backward();
    assertTensor(model.bias.grad, [1, 1, 1]);
  });

  test("need a vector of the right length", () => {
    const { parameters } = { parameters: new nn.Linear(2, 3).parameters() };
    assertThrows(
      () => nn.utils.vectorToParameters(eg.ones([8]), parameters),
      "ShapeMismatch",
      /9 elements/,
    );
    assertThrows(() => nn.utils.parametersToVector([]), "InvalidArgument", /a list of tensors/);
  });
});

test("spectralNorm divides a complex weight by its largest singular value", () => {
  const layer = new eg.nn.Linear(2, 2, { dtype: "complex128" });
  const diagonal = eg.tensor([
    { re: 0, im: 2 },
    { re: -0.5, im: 0 },
  ]);
  eg.noGrad(() => layer.weight.copy_(eg.diag(diagonal)));
  eg.nn.utils.parametrizations.spectralNorm(layer, { nPowerIterations: 20 });
  const weight = eg.noGrad(() => layer.weight);
  assertTensor(weight.diagonal().abs(), [1, 0.25], { atol: 1e-6 });
  assertTensor(weight.at(0, 0).imag(), [1], { atol: 1e-6 });
});

test("weightNorm loads the state of nn.utils.weightNorm", () => {
  const old = new eg.nn.Sequential(eg.nn.utils.weightNorm(new eg.nn.Linear(3, 2)));
  const layer = eg.nn.utils.parametrizations.weightNorm(new eg.nn.Linear(3, 2));
  const model = new eg.nn.Sequential(layer);
  const state = old.stateDict();
  assert.deepEqual(model.loadStateDict(state), { missingKeys: [], unexpectedKeys: [] });
  assertTensor(layer.parametrizations.weight.original0, state["0.weight_g"].dataSync());
  assertTensor(layer.parametrizations.weight.original1, state["0.weight_v"].dataSync());
  assert.ok("0.weight_g" in state);
  model.loadStateDict(model.stateDict());
});
