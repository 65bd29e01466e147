// Single ops and layers in this package: kOps[name](sizes) returns { run, leaves }, where run() is the forward pass and
// `leaves` are the tensors that require gradients.

import * as eg from "edgegrad";

const { nn } = eg;
const numbers = (...shape) => eg.randn(shape, { requiresGrad: true });

const elementwise = (f) => (shape) => {
  const x = numbers(...shape);
  return { run: () => f(x), leaves: [x] };
};

function layer(module, input, call = (x) => module.call(x)) {
  return { run: () => call(input), leaves: [input, ...module.parameters()] };
}

/** The ops of workloads/ops.mjs. */
export const kOps = {
  exp: elementwise((x) => x.exp()),
  log: elementwise((x) => x.log()),
  sigmoid: elementwise((x) => x.sigmoid()),
  tanh: elementwise((x) => x.tanh()),
  gelu: elementwise((x) => eg.gelu(x)),
  softmax: elementwise((x) => x.softmax(-1)),
  transpose: elementwise((x) => x.t().contiguous()),

  crossEntropy([rows, classes]) {
    const [x, labels] = [numbers(rows, classes), eg.randint(classes, [rows])];
    return { run: () => eg.crossEntropy(x, labels), leaves: [x] };
  },

  attention({ batch, heads, length, width }) {
    const leaves = [1, 2, 3].map(() => numbers(batch, heads, length, width));
    return { run: () => eg.scaledDotProductAttention(...leaves, { isCausal: true }), leaves };
  },

  conv2d({ batch, inputs, side, outputs, kernel, ...options }) {
    const module = new nn.Conv2d(inputs, outputs, kernel, { ...options, bias: false });
    return layer(module, numbers(batch, inputs, side, side));
  },

  convTranspose2d({ batch, inputs, side, outputs, kernel, ...options }) {
    const module = new nn.ConvTranspose2d(inputs, outputs, kernel, { ...options, bias: false });
    return layer(module, numbers(batch, inputs, side, side));
  },

  batchNorm: ([batch, channels, side]) =>
    layer(new nn.BatchNorm2d(channels), numbers(batch, channels, side, side)),

  layerNorm: ([rows, width]) => layer(new nn.LayerNorm(width), numbers(rows, width)),

  lstm({ batch, length, inputs, hidden }) {
    const module = new nn.LSTM(inputs, hidden, { batchFirst: true });
    return layer(module, numbers(batch, length, inputs), (x) => module.call(x)[0]);
  },

  rfft: elementwise((x) => eg.rfft(x)),
  svd: elementwise((x) => eg.svd(x)),
};

/** Returns the forward pass, alone or followed by the gradients of the sum of its result. */
export function opOf(name, sizes, isWithBackward) {
  const { run, leaves } = kOps[name](sizes);
  if (!isWithBackward) return () => eg.scope(() => eg.noGrad(() => void run()));
  return () => {
    eg.scope(() => run().sum().backward());
    for (const leaf of leaves) leaf.grad = null;
  };
}
