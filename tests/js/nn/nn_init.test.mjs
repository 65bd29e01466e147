// The less common functions of nn.init, and Module.to().

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const { init } = nn;

describe("nn.init", () => {
  test("layers filled by eye_ and dirac_ return their input", () => {
    assertTensor(init.eye_(eg.empty([2, 3])), [1, 0, 0, 0, 1, 0]);
    assertThrows(
      () => init.eye_(eg.empty([2])),
      "InvalidArgument",
      /expected a matrix, got the shape \[2\]/,
    );
    assertTensor(init.dirac_(eg.empty([2, 1, 3])), [0, 1, 0, 0, 0, 0]);
    assertTensor(init.dirac_(eg.empty([2, 1, 3]), 2), [0, 1, 0, 0, 1, 0]);
    const square = init.dirac_(eg.ones([2, 2, 2, 3]));
    assert.equal(square.sum().item(), 2);
    assert.equal(square.at(1, 1, 1, 1).item(), 1);
    assertThrows(() => init.dirac_(eg.empty([3, 1, 3]), 2), "InvalidArgument", /divisible/);
  });

  test("weights that are computed at each use are refused, because filling them changes nothing", () => {
    const { utils } = nn;
    const kMakers = {
      parametrization: (layer) => utils.parametrizations.orthogonal(layer),
      "weight norm": (layer) => utils.weightNorm(layer),
      pruning: (layer) => utils.prune.l1Unstructured(layer, "weight", 1),
      "spectral norm": (layer) => {
        utils.spectralNorm(layer);
        layer.call(eg.ones([1, 2]));
      },
    };
    for (const [name, make] of Object.entries(kMakers)) {
      const layer = new nn.Linear(2, 2);
      make(layer);
      for (const fill of [init.zeros_, init.xavierNormal_, init.orthogonal_, init.truncNormal_]) {
        assertThrows(() => fill(layer.weight), "InvalidArgument", /computed/);
      }
      assert.deepEqual(init.fans(layer.weight), { fanIn: 2, fanOut: 2 }, name);
      assertTensor(init.ones_(layer.bias), [1, 1]);
    }
    const layer = utils.parametrizations.orthogonal(new nn.Linear(2, 2));
    layer.weight = init.eye_(eg.empty([2, 2]));
    assertTensor(layer.weight.detach(), [1, 0, 0, 1], { atol: 1e-6 });
    const same = new nn.Linear(2, 2);
    utils.parametrize.registerParametrization(same, "weight", new nn.Identity());
    assertTensor(init.zeros_(same.weight), [0, 0, 0, 0]);
  });

  test("orthogonal_ is the Q of what normal_ draws, with a positive R", () => {
    for (const shape of [
      [5, 3],
      [3, 5],
      [4, 2, 2],
    ]) {
      eg.manualSeed(7);
      const drawn = init.normal_(eg.empty(shape, { dtype: "float64" })).reshape(shape[0], -1);
      eg.manualSeed(7);
      const q = init.orthogonal_(eg.empty(shape, { dtype: "float64" }), 2).reshape(shape[0], -1);
      const [rows, columns] = q.shape;
      const tall = (x) => (rows < columns ? x.t() : x);
      const size = Math.min(rows, columns);
      const products = tall(q).t().matmul(tall(q));
      assertTensor(products, eg.eye(size).mul(4).dataSync(), { atol: 1e-12 });
      const r = tall(q).t().matmul(tall(drawn)).arraySync();
      r.forEach((row, i) => {
        assert.ok(row[i] > 0);
        assertClose(row.slice(0, i), new Array(i).fill(0), { atol: 1e-12 });
      });
    }
  });

  test("truncNormal_ leaves a complex tensor as it is", () => {
    const z = eg.ones([2], { dtype: "complex64" });
    assertThrows(() => init.truncNormal_(z), "DtypeMismatch", /expected real numbers/);
    assertTensor(eg.real(z), [1, 1]);
  });

  test("truncNormal_ stays inside and is normal there", () => {
    eg.manualSeed(0);
    const x = init.truncNormal_(eg.empty([20000], { dtype: "float64" }), 1, 2, 0, 3);
    const values = [...x.dataSync()].sort((a, b) => a - b);
    assert.ok(values[0] >= 0 && values.at(-1) <= 3);
    // P(x < 1) = (Phi(0) - Phi(-1/2)) / (Phi(1) - Phi(-1/2)).
    const share = values.filter((value) => value < 1).length / values.length;
    assert.ok(Math.abs(share - 0.1914625 / (0.3413447 + 0.1914625)) < 0.01, `share ${share}`);
    // The first number is computed from the first uniform draw.
    eg.manualSeed(0);
    const [u] = eg.rand([1], { dtype: "float64" }).dataSync();
    eg.manualSeed(0);
    const [first] = init.truncNormal_(eg.empty([1], { dtype: "float64" })).dataSync();
    const cdf = 0.022750131948179195 + u * (1 - 2 * 0.022750131948179195);
    assertClose(
      [
        0.5 *
          (1 +
            eg
              .tensor(first / Math.SQRT2, { dtype: "float64" })
              .erf()
              .item()),
      ],
      [cdf],
      {
        rtol: 1e-10,
      },
    );
  });

  test("numbers come from a generator, where one is given", () => {
    const names = "uniform_ normal_ truncNormal_ kaimingUniform_ kaimingNormal_ xavierUniform_ ";
    for (const name of `${names}xavierNormal_ orthogonal_`.split(" ")) {
      eg.manualSeed(7);
      const expected = init[name](eg.empty([3, 4])).dataSync();
      eg.manualSeed(1);
      const before = eg.random.getState().dataSync();
      const generator = new eg.Generator(7);
      assertTensor(init[name](eg.empty([3, 4]), { generator }), expected, { rtol: 0, atol: 0 });
      assert.deepEqual(eg.random.getState().dataSync(), before, name);
    }
    // As in PyTorch, the positions of the zeros do not come from it.
    const sparse = (generator) => {
      eg.manualSeed(3);
      return init.sparse_(eg.empty([4, 3]), 0.5, { std: 1, generator }).arraySync();
    };
    const [a, b] = [sparse(new eg.Generator(1)), sparse(new eg.Generator(2))];
    const zeros = (matrix) => matrix.flat().map((value) => value === 0);
    assert.deepEqual(zeros(a), zeros(b));
    assert.notDeepEqual(a, b);
    assertThrows(
      () => init.normal_(eg.empty([2]), { generator: 3 }),
      "InvalidArgument",
      /generator: expected a Generator/,
    );
  });

  test("all convolutions have the gain 1", () => {
    for (const dim of [1, 2, 3]) {
      assert.equal(init.calculateGain(`conv${dim}d`), 1);
      assert.equal(init.calculateGain(`conv_transpose${dim}d`), 1);
    }
  });

  test("null is the default slope of the gain of leaky_relu", () => {
    assert.equal(init.calculateGain("leaky_relu", null), Math.sqrt(2 / (1 + 0.01 ** 2)));
    assert.equal(init.calculateGain("leaky_relu"), init.calculateGain("leaky_relu", null));
    assert.equal(
      init.calculateGain("leaky_relu", { param: null }),
      init.calculateGain("leaky_relu"),
    );
    assert.equal(init.calculateGain("tanh", null), 5 / 3);
    assert.equal(init.calculateGain("leaky_relu", 3), Math.sqrt(2 / 10));
    assertThrows(() => init.calculateGain("leaky_relu", true), "InvalidArgument", /param/);
  });

  test("weights without inputs have nothing to draw", () => {
    for (const name of ["kaimingUniform_", "kaimingNormal_"]) {
      eg.manualSeed(5);
      assert.deepEqual(init[name](eg.empty([3, 0])).shape, [3, 0]);
      const [next] = eg.rand([1]).dataSync();
      eg.manualSeed(5);
      assert.equal(next, eg.rand([1]).item());
    }
    assertTensor(new nn.Linear(0, 2).call(eg.empty([3, 0])), [0, 0, 0, 0, 0, 0], { shape: [3, 2] });
  });

  test("sparse_ leaves zeros in every column", () => {
    const x = init.sparse_(eg.empty([10, 3]), 0.25, 1).arraySync();
    for (const column of [0, 1, 2]) {
      assert.equal(x.filter((row) => row[column] === 0).length, 3);
    }
  });
});

describe("Module.to", () => {
  test("double() and float() convert what is real, and leave complex numbers", () => {
    const model = new nn.Linear(2, 1);
    model.phase = new nn.Buffer(eg.complex(eg.ones([1]), eg.ones([1])));
    model.count = new nn.Buffer(eg.tensor([3n]));
    const dtypes = () => Object.values(model.stateDict()).map(({ dtype }) => dtype);
    assert.equal(model.double(), model);
    assert.deepEqual(dtypes(), ["float64", "float64", "complex64", "int64"]);
    model.float();
    assert.deepEqual(dtypes(), ["float32", "float32", "complex64", "int64"]);
  });

  test("converts parameters, buffers and gradients, which stay the same objects", () => {
    const model = new nn.Linear(2, 1);
    model.count = eg.tensor([3n]);
    const { weight } = model;
    const before = [...weight.dataSync()];
    const optimizer = new eg.optim.SGD(model.parameters(), { lr: 1 });
    model
      .call(eg.ones([1, 2]))
      .sum()
      .backward();
    assert.equal(model.to("float64"), model);
    assert.equal(model.weight, weight);
    assert.equal(weight.dtype, "float64");
    assert.equal(weight.grad.dtype, "float64");
    assert.ok(weight.requiresGrad && weight.isLeaf);
    assert.equal(model.count.dtype, "int64");
    assertTensor(weight, before, { rtol: 0, atol: 0 });
    optimizer.step();
    assertTensor(
      weight,
      before.map((value) => value - 1),
    );
    assert.equal(model.call(eg.ones([1, 2], { dtype: "float64" })).dtype, "float64");
    assertThrows(
      () => model.to("int64"),
      "InvalidArgument",
      /floating-point or complex dtype, got int64/,
    );
  });
});
