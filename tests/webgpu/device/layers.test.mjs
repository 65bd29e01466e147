// Every layer and loss on the device: outputs and gradients match the CPU's and stay on the device.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../../js/support/assert.mjs";
import { eg, onBoth, options } from "../support/engine.mjs";

const { nn } = eg;
const kImages = () => [eg.randn([2, 4, 6, 6])];
const kRows = () => [eg.randn([3, 8])];
const kSequences = () => [eg.randn([5, 2, 8])];
/** Enough rows for shaders that compute several of them in an invocation, but no multiple of these. */
const kManySequences = () => [eg.randn([5, 6, 8])];

/** For each name, how to make the layer, and its inputs. */
const kLayers = {
  Linear: [() => new nn.Linear(8, 3), kRows],
  Bilinear: [() => new nn.Bilinear(8, 8, 3), () => [...kRows(), ...kRows()]],
  Conv1d: [() => new nn.Conv1d(2, 3, 3, { dilation: 2 }), () => [eg.randn([2, 2, 9])]],
  Conv2d: [() => new nn.Conv2d(4, 6, 3, { padding: 1, stride: 2, groups: 2 }), kImages],
  ConvTranspose2d: [() => new nn.ConvTranspose2d(4, 2, 3, { stride: 2 }), kImages],
  BatchNorm1d: [() => new nn.BatchNorm1d(8), kRows],
  BatchNorm2d: [() => new nn.BatchNorm2d(4), kImages],
  "BatchNorm2d, evaluating": [() => new nn.BatchNorm2d(4).eval(), kImages],
  LayerNorm: [() => new nn.LayerNorm(8), kRows],
  GroupNorm: [() => new nn.GroupNorm(2, 4), kImages],
  RMSNorm: [() => new nn.RMSNorm(8), kRows],
  InstanceNorm2d: [() => new nn.InstanceNorm2d(4, { affine: true }), kImages],
  Embedding: [
    () => new nn.Embedding(7, 4, { paddingIdx: 1 }),
    () => [eg.tensor([[0n, 1n], [6n, 6n]])], // biome-ignore format: a matrix
  ],
  MaxPool2d: [() => new nn.MaxPool2d(3, { stride: 2, padding: 1 }), kImages],
  AvgPool2d: [() => new nn.AvgPool2d(2), kImages],
  AdaptiveAvgPool2d: [() => new nn.AdaptiveAvgPool2d([2, 3]), kImages],
  Flatten: [() => new nn.Flatten(), kImages],
  ReLU: [() => new nn.ReLU(), kRows],
  GELU: [() => new nn.GELU(), kRows],
  SiLU: [() => new nn.SiLU(), kRows],
  Tanh: [() => new nn.Tanh(), kRows],
  Sigmoid: [() => new nn.Sigmoid(), kRows],
  Softmax: [() => new nn.Softmax({ dim: 1 }), kRows],
  RNN: [() => new nn.RNN(8, 4), kSequences],
  LSTM: [() => new nn.LSTM(8, 4, { numLayers: 2, bidirectional: true }), kSequences],
  GRU: [() => new nn.GRU(8, 4), kSequences],
  "RNN of many sequences": [
    () => new nn.RNN(8, 4, { nonlinearity: "relu", bidirectional: true }),
    kManySequences,
  ],
  "LSTM of many sequences": [() => new nn.LSTM(8, 4, { bias: false }), kManySequences],
  "GRU of many sequences": [
    () => new nn.GRU(8, 4, { numLayers: 2, bidirectional: true, bias: false }),
    kManySequences,
  ],
  MultiheadAttention: [
    () => new nn.MultiheadAttention(8, 2),
    () => [...kSequences(), ...kSequences(), ...kSequences()],
  ],
  TransformerEncoderLayer: [
    () => new nn.TransformerEncoderLayer(8, 2, { dimFeedforward: 16, dropout: 0 }),
    kSequences,
  ],
};

const kScores = () => [eg.randn([4, 5]), eg.tensor([0n, 4n, 2n, 2n])];
const kPairs = () => [eg.randn([4, 5]), eg.rand([4, 5])];
const kChances = () => [eg.rand([4, 5]), eg.rand([4, 5])];
const kLosses = {
  MSELoss: kPairs,
  L1Loss: kPairs,
  SmoothL1Loss: kPairs,
  HuberLoss: kPairs,
  BCELoss: kChances,
  BCEWithLogitsLoss: kPairs,
  CrossEntropyLoss: kScores,
  NLLLoss: kScores,
  KLDivLoss: kPairs,
};

/** The outputs and gradients of a module, as arrays; `what` is the name of each. */
function trainOnce(makeModule, makeInputs, device) {
  const module = makeModule().to(device);
  const inputs = makeInputs().map((input) => input.to(device));
  for (const input of inputs) if (input.dtype === "float32") input.requiresGrad_();
  const outputs = [module.call(...inputs)].flat(2).filter((value) => value instanceof eg.Tensor);
  // Different weights, so that no part of the gradient cancels.
  const weighted = outputs.map((output) => {
    const weights = eg.linspace(0.5, 1.5, output.numel).reshape(output.shape).to(device);
    return output.mul(weights).sum();
  });
  const tracked = weighted.filter((sum) => sum.requiresGrad);
  if (tracked.length > 0) eg.stack(tracked).sum().backward();
  const named = {
    ...Object.fromEntries(outputs.map((output, i) => [`output ${i}`, output.detach()])),
    ...Object.fromEntries(inputs.map((input, i) => [`gradient of input ${i}`, input.grad])),
    ...Object.fromEntries(module.namedParameters().map(([name, { grad }]) => [name, grad])),
    ...Object.fromEntries(module.namedBuffers()),
  };
  return Object.entries(named)
    .filter(([, tensor]) => tensor !== null)
    .map(([what, tensor]) => {
      assert.equal(tensor.device, device, what);
      return { what, shape: tensor.shape, values: [...tensor.detach().dataSync()] };
    });
}

async function assertAlike(makeModule, makeInputs) {
  const { cpu, gpu } = await onBoth((device) =>
    eg.scope(() => trainOnce(makeModule, makeInputs, device)),
  );
  assert.deepEqual(
    gpu.map(({ what, shape }) => ({ what, shape })),
    cpu.map(({ what, shape }) => ({ what, shape })),
  );
  assert.ok(cpu.length > 1, "there is an output and a gradient");
  for (const [i, { what, values }] of cpu.entries()) {
    // Sums of some hundred products of ordinary size, in different orders.
    assertClose(gpu[i].values, values, { rtol: 5e-5, atol: 2e-5, what });
  }
}

describe("a layer on the device is as on the CPU:", options, () => {
  for (const [name, [makeModule, makeInputs]] of Object.entries(kLayers))
    test(name, () => assertAlike(makeModule, makeInputs));
});

describe("a loss on the device is as on the CPU:", options, () => {
  for (const [name, makeInputs] of Object.entries(kLosses))
    test(name, () => assertAlike(() => new nn[name](), makeInputs));
});
