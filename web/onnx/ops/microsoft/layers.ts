// The fused layers that ONNX Runtime's optimizer writes.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { tensor, tensorOrNull, type Value } from "../../values/value.js";
import { gelu } from "../activations.js";
import { convolution } from "../convolutions.js";
import { rmsNormalization, simplifiedLayerNormalization } from "../normalization.js";
import { flag, float, ignored, int, maybeFloats, type Op, type Ops, op, string } from "../op.js";
import { gemm } from "../products.js";
import { kWindow } from "../windows.js";

const plus = (x: eg.Tensor, ...more: readonly Value[]) =>
  more.reduce<eg.Tensor>((sum, value) => (value === undefined ? sum : sum.add(tensor(value))), x);

const lastShape = (x: eg.Tensor) => [x.shape.at(-1) as number];

// Normalizes a sum, which is an output too.
const skipLayerNormalization = op({
  attributes: { epsilon: float(1e-12) },
  weights: [2, 3, 4],
  run: ([x, skip, gamma, beta, bias], { epsilon }) => {
    const sum = plus(tensor(x), skip, bias);
    const options = { weight: tensor(gamma), bias: tensorOrNull(beta), eps: epsilon };
    return [eg.layerNorm(sum, lastShape(sum), options), undefined, undefined, sum];
  },
});

const skipSimplified = op({
  attributes: { epsilon: float(1e-5) },
  weights: [2, 3],
  run: ([x, skip, gamma, bias], { epsilon }) => {
    const sum = plus(tensor(x), skip, bias);
    return [rmsNormalization(sum, tensor(gamma), -1, epsilon), undefined, undefined, sum];
  },
});

const embedding = (ids: Value, table: Value) =>
  eg.nn.functional.embedding(tensor(ids).to("int64"), tensor(table));

const embedLayerNormalization = op({
  attributes: { epsilon: float(1e-12), mask_index_type: ignored },
  weights: [2, 3, 4, 5, 6],
  run: ([ids, segments, words, positions, kinds, gamma, beta, mask, places], { epsilon }) => {
    const length = tensor(ids).shape[1] as number;
    const table = tensor(positions);
    const own = places === undefined ? eg.narrow(table, 0, 0, length) : embedding(places, table);
    const base = embedding(ids, words).add(own);
    const sum = segments === undefined ? base : base.add(embedding(segments, kinds));
    const options = { weight: tensor(gamma), bias: tensor(beta), eps: epsilon };
    const count = mask === undefined ? undefined : eg.sum(tensor(mask), [1], { dtype: "int32" });
    return [eg.layerNorm(sum, lastShape(sum), options), count, sum];
  },
});

const transposed = (x: eg.Tensor, last: boolean, batch: boolean) => {
  const inner = batch ? eg.movedim(x, 0, -2) : x;
  return last ? eg.transpose(inner, -1, -2) : inner;
};

const fusedMatMul = op({
  attributes: {
    alpha: float(1),
    transA: flag(false),
    transB: flag(false),
    transBatchA: flag(false),
    transBatchB: flag(false),
  },
  weights: [0, 1],
  run: ([a, b], { alpha, transA, transB, transBatchA, transBatchB }) => {
    const product = eg.matmul(
      transposed(tensor(a), transA, transBatchA),
      transposed(tensor(b), transB, transBatchB),
    );
    return alpha === 1 ? product : product.mul(alpha);
  },
});

type Activation = (x: eg.Tensor, params: readonly number[]) => eg.Tensor;
const kActivations: Readonly<Record<string, Activation>> = {
  Relu: (x) => eg.relu(x),
  Tanh: (x) => eg.tanh(x),
  Sigmoid: (x) => eg.sigmoid(x),
  LeakyRelu: (x, [alpha = 0.01]) => eg.leakyRelu(x, alpha),
  Clip: (x, [low = Number.NEGATIVE_INFINITY, high = Number.POSITIVE_INFINITY]) =>
    eg.clamp(x, low, high),
  HardSigmoid: (x, [alpha = 0.2, beta = 0.5]) => eg.clamp(x.mul(alpha).add(beta), 0, 1),
};

function activate(x: eg.Tensor, name: string, params: readonly number[] = []): eg.Tensor {
  if (name === "") return x;
  const activation = Object.hasOwn(kActivations, name) ? kActivations[name] : undefined;
  if (activation === undefined)
    return fail("InvalidArgument", "OnnxModule", `the activation "${name}" is not supported.`);
  return activation(x, params);
}

const fusedConv = op({
  attributes: { ...kWindow, group: int(1), activation: string(""), activation_params: maybeFloats },
  weights: [1, 2],
  run: ([x, weight, bias, sum], given) => {
    const result = convolution(tensor(x), tensor(weight), tensorOrNull(bias), given);
    return activate(plus(result, sum), given.activation, given.activation_params);
  },
});

const fusedGemm = op({
  attributes: {
    alpha: float(1),
    beta: float(1),
    transA: flag(false),
    transB: flag(false),
    activation: string(""),
    activation_alpha: float(0.01),
    activation_beta: float(0),
    activation_gamma: ignored,
  },
  weights: [0, 1, 2],
  run: (inputs, given) =>
    activate(gemm(inputs, given), given.activation, [
      given.activation_alpha,
      given.activation_beta,
    ]),
});

const withBias = (run: (x: eg.Tensor) => eg.Tensor): Op =>
  op({ weights: [1], run: ([x, bias]) => run(plus(tensor(x), bias)) });

export const kMicrosoftLayers: Ops = {
  BiasAdd: op({ weights: [1], run: ([x, bias, skip]) => plus(tensor(x), bias, skip) }),
  BiasGelu: withBias((x) => gelu(x, "none")),
  BiasSoftmax: op({
    attributes: { axis: int(1), is_inner_broadcast: ignored },
    run: ([x, bias], { axis }) => {
      const sum = tensor(x).add(tensor(bias));
      return eg.softmax(eg.flatten(sum, axis), -1).reshape(sum.shape);
    },
  }),
  EmbedLayerNormalization: embedLayerNormalization,
  FastGelu: withBias((x) => gelu(x, "tanh")),
  FusedConv: fusedConv,
  FusedGemm: fusedGemm,
  FusedMatMul: fusedMatMul,
  Gelu: op({ run: ([x]) => gelu(tensor(x), "none") }),
  QuickGelu: op({
    attributes: { alpha: float(1.702) },
    run: ([input], { alpha }) => {
      const x = tensor(input);
      return x.mul(eg.sigmoid(x.mul(alpha)));
    },
  }),
  SimplifiedLayerNormalization: simplifiedLayerNormalization,
  SkipLayerNormalization: skipLayerNormalization,
  SkipSimplifiedLayerNormalization: skipSimplified,
};
