// RNN, LSTM and GRU against loops that follow PyTorch's documented formulas.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const kTolerance = { rtol: 1e-10, atol: 1e-12 };

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const affine = (weight, bias, x) =>
  weight.map((row, i) => row.reduce((sum, w, j) => sum + w * x[j], bias?.[i] ?? 0));
const part = (gates, i, size) => gates.slice(i * size, (i + 1) * size);

/** One step: the gates' two shares and the states before, to the states after. */
const kCells = {
  RNN: ({ nonlinearity }, fromInput, fromHidden) => {
    const activation = nonlinearity === "relu" ? (x) => Math.max(x, 0) : Math.tanh;
    return [fromInput.map((v, i) => activation(v + fromHidden[i]))];
  },
  LSTM: ({ hiddenSize: size }, fromInput, fromHidden, [, c]) => {
    const [i, f, g, o] = [0, 1, 2, 3].map((k) => {
      return part(fromInput, k, size).map((v, j) => v + part(fromHidden, k, size)[j]);
    });
    const next = c.map((v, j) => sigmoid(f[j]) * v + sigmoid(i[j]) * Math.tanh(g[j]));
    return [next.map((v, j) => sigmoid(o[j]) * Math.tanh(v)), next];
  },
  GRU: ({ hiddenSize: size }, fromInput, fromHidden, [h]) => {
    const [xr, xz, xn] = [0, 1, 2].map((k) => part(fromInput, k, size));
    const [hr, hz, hn] = [0, 1, 2].map((k) => part(fromHidden, k, size));
    const next = h.map((v, j) => {
      const r = sigmoid(xr[j] + hr[j]);
      const z = sigmoid(xz[j] + hz[j]);
      return (1 - z) * Math.tanh(xn[j] + r * hn[j]) + z * v;
    });
    return [next];
  },
};

/** Runs one sequence [steps][features]; `initial[k][row]` are the states. */
function reference(kind, layer, sequence, initial) {
  const state = Object.fromEntries(
    Object.entries(layer.stateDict()).map(([key, value]) => [key, value.arraySync()]),
  );
  const finals = initial.map(() => []);
  let values = sequence;
  let row = 0;
  for (let l = 0; l < layer.numLayers; l++) {
    const outputs = [];
    for (const suffix of layer.bidirectional ? [`_l${l}`, `_l${l}_reverse`] : [`_l${l}`]) {
      const isReverse = suffix.endsWith("reverse");
      let states = initial.map((each) => each[row]);
      const own = (isReverse ? values.toReversed() : values).map((x) => {
        const fromInput = affine(state[`weight_ih${suffix}`], state[`bias_ih${suffix}`], x);
        const hidden = affine(state[`weight_hh${suffix}`], state[`bias_hh${suffix}`], states[0]);
        states = kCells[kind](layer, fromInput, hidden, states);
        const projection = state[`weight_hr${suffix}`];
        if (projection) states = [affine(projection, null, states[0]), states[1]];
        return states[0];
      });
      outputs.push(isReverse ? own.reverse() : own);
      states.forEach((value, k) => {
        finals[k].push(value);
      });
      row++;
    }
    values = values.map((_, t) => outputs.flatMap((output) => output[t]));
  }
  return { output: values, finals };
}

const kOptions = [
  {},
  { numLayers: 2, bidirectional: true },
  { numLayers: 3, bias: false },
  { batchFirst: true, bidirectional: true },
];

describe("recurrent layers follow the formulas", () => {
  const cases = ["RNN", "LSTM", "GRU"].flatMap((kind) => kOptions.map((one) => [kind, one]));
  cases.push(["RNN", { nonlinearity: "relu", numLayers: 2, bidirectional: true }]);
  cases.push(["LSTM", { projSize: 2, numLayers: 2, bidirectional: true }]);
  for (const [kind, options] of cases) {
    test(`${kind} ${JSON.stringify(options)}`, () => {
      eg.manualSeed(3);
      const layer = new nn[kind](3, 4, { ...options, dtype: "float64" });
      const [steps, batch] = [5, 2];
      const count = layer.numLayers * (layer.bidirectional ? 2 : 1);
      const x = eg.randn([steps, batch, 3], { dtype: "float64" });
      const sizes = kind === "LSTM" ? [options.projSize ?? 4, 4] : [4];
      const initial = sizes.map((size) => eg.randn([count, batch, size], { dtype: "float64" }));
      const input = options.batchFirst ? x.transpose(0, 1) : x;
      const [output, last] = layer.call(input, kind === "LSTM" ? initial : initial[0]);
      const ordered = options.batchFirst ? output.transpose(0, 1) : output;
      for (let b = 0; b < batch; b++) {
        const rows = initial.map((state) => state.select(1, b).arraySync());
        const expected = reference(kind, layer, x.select(1, b).arraySync(), rows);
        assertTensor(ordered.select(1, b), expected.output.flat(2), kTolerance);
        [last].flat().forEach((state, k) => {
          assertTensor(state.select(1, b), expected.finals[k].flat(2), kTolerance);
        });
      }
    });
  }

  test("without states they begin with zeros, and a sequence alone is a batch of one", () => {
    const layer = new nn.LSTM(3, 4, 2);
    const x = eg.randn([5, 3]);
    const [output, [h, c]] = layer.call(x);
    assert.deepEqual(
      [output.shape, h.shape, c.shape],
      [
        [5, 4],
        [2, 4],
        [2, 4],
      ],
    );
    const zeros = eg.zeros([2, 1, 4]);
    const [batched, [, state]] = layer.call(x.unsqueeze(1), [zeros, zeros]);
    assertTensor(output, batched.dataSync(), { rtol: 0, atol: 0 });
    assertTensor(c, state.dataSync(), { rtol: 0, atol: 0 });
  });

  test("RNN takes relu", () => {
    const layer = new nn.RNN(1, 1, 1, "relu");
    const weights = { weight_ih_l0: [[1]], weight_hh_l0: [[2]], bias_ih_l0: [0], bias_hh_l0: [1] };
    const state = Object.entries(weights).map(([key, value]) => [key, eg.tensor(value)]);
    layer.loadStateDict(Object.fromEntries(state));
    assertTensor(layer.call(eg.tensor([[1], [-9], [1]]))[0], [2, 0, 2]);
    assertThrows(
      () => new nn.RNN(1, 1, { nonlinearity: "exp" }),
      "InvalidArgument",
      /nonlinearity: .*got "exp"/,
    );
  });
});

const kKinds = [["RNN"], ["RNN", { nonlinearity: "relu" }], ["LSTM"], ["GRU"]];

describe("gradients, dropout and state of recurrent layers", () => {
  for (const [kind, options] of kKinds) {
    test(`${kind} ${JSON.stringify(options ?? {})} passes gradcheck in both directions`, () => {
      eg.manualSeed(1);
      const layer = new nn[kind](2, 2, { ...options, bidirectional: true, dtype: "float64" });
      const x = eg.randn([3, 1, 2], { dtype: "float64", requiresGrad: true });
      const inputs = [x, ...layer.parameters()];
      assert.ok(eg.autograd.gradcheck(() => layer.call(x)[0], inputs));
    });
  }

  for (const kind of ["RNN", "LSTM", "GRU"]) {
    test(`all steps of ${kind} are one node; complex numbers take each step by itself`, () => {
      const layer = new nn[kind](2, 3, { dtype: "float64" });
      const x = eg.randn([4, 1, 2], { dtype: "float64" });
      const expected = layer.call(x)[0];
      const name = `${kind[0]}${kind.slice(1).toLowerCase()}StepsBackward0`;
      assert.equal(expected.squeeze(1).gradFn.nextFunctions[0][0].name, name);
      const found = layer.to("complex128").call(x.to("complex128"))[0];
      assertTensor(eg.real(found), expected.flatten().dataSync(), kTolerance);
      found.abs().sum().backward();
      assert.equal(layer.weight_hh_l0.grad.dtype, "complex128");
    });

    test(`a captured step of ${kind} computes what the function does`, () => {
      const layer = new nn[kind](2, 3, { bidirectional: true });
      const step = (x) => {
        layer.zeroGrad();
        layer.call(x)[0].square().sum().backward();
        return layer.weight_hh_l0_reverse.grad.clone();
      };
      const captured = eg.capture(step, eg.randn([4, 2, 2]));
      const x = eg.randn([4, 2, 2]);
      eg.testing.assertClose(captured(x), step(x));
      captured.dispose();
    });
  }

  test("dropout acts between layers, in training only", () => {
    eg.manualSeed(0);
    const layer = new nn.GRU(2, 8, 2, { dropout: 0.5 });
    const x = eg.randn([3, 1, 2]);
    const draw = () => [...layer.call(x)[0].dataSync()];
    assert.notDeepEqual(draw(), draw());
    layer.eval();
    assert.deepEqual(draw(), draw());
    const single = new nn.GRU(2, 8, { dropout: 0.5 });
    assert.deepEqual([...single.call(x)[0].dataSync()], [...single.call(x)[0].dataSync()]);
  });

  test("keys and shapes are PyTorch's", () => {
    const layer = new nn.LSTM(3, 4, { numLayers: 2, bidirectional: true, projSize: 2 });
    const shapes = Object.entries(layer.stateDict()).map(([key, { shape }]) => `${key} ${shape}`);
    assert.deepEqual(shapes.slice(0, 6), [
      "weight_ih_l0 16,3",
      "weight_hh_l0 16,2",
      "bias_ih_l0 16",
      "bias_hh_l0 16",
      "weight_hr_l0 2,4",
      "weight_ih_l0_reverse 16,3",
    ]);
    assert.equal(shapes[10], "weight_ih_l1 16,4");
    assert.equal(shapes.length, 20);
    const bound = 1 / Math.sqrt(4);
    assert.ok(layer.parameters().every((p) => p.abs().max().item() <= bound));
    assert.deepEqual(Object.keys(new nn.GRU(1, 2, { bias: false }).stateDict()), [
      "weight_ih_l0",
      "weight_hh_l0",
    ]);
  });

  test("inputs and states that do not fit are refused", () => {
    const layer = new nn.GRU(3, 4);
    assertThrows(
      () => layer.call(eg.zeros([2, 1, 5])),
      "ShapeMismatch",
      /3 features \(inputSize\), got 5/,
    );
    assertThrows(() => layer.call(eg.zeros([3])), "ShapeMismatch", /2D or 3D input, got 1D/);
    assertThrows(
      () => layer.call(eg.zeros([0, 1, 3])),
      "ShapeMismatch",
      /one step or more, got none/,
    );
    assertThrows(
      () => layer.call(eg.zeros([2, 1, 3]), eg.zeros([1, 2, 4])),
      "ShapeMismatch",
      /\[1, 1, 4\], got \[1, 2, 4\]/,
    );
    assertThrows(() => new nn.GRU(3, 0), "InvalidArgument", /hiddenSize must be above 0/);
    assertThrows(() => new nn.LSTM(3, 2, { projSize: 2 }), "InvalidArgument", /projSize/);
  });

  test("a step leaves no tensors behind but its results", () => {
    const layer = new nn.LSTM(2, 3);
    const x = eg.randn([4, 1, 2]);
    const before = eg.memory().jsHandles;
    const results = eg.noGrad(() => layer.call(x)).flat();
    assert.equal(eg.memory().jsHandles, before + 3);
    for (const result of results) result.dispose();
    assert.equal(eg.memory().jsHandles, before);
  });
});
