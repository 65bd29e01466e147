// Recurrent layers, step by step.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { ints, tensor, tensorOrNull, type Value } from "../values/value.js";
import { range } from "./axes.js";
import {
  flag,
  int,
  maybeFloat,
  maybeFloats,
  maybeInt,
  maybeStrings,
  type Op,
  type Ops,
  op,
  string,
  type ValuesOf,
} from "./op.js";
import { runLayer } from "./recurrent_layers.js";

const kRecurrent = {
  activation_alpha: maybeFloats,
  activation_beta: maybeFloats,
  activations: maybeStrings,
  clip: maybeFloat,
  direction: string("forward"),
  hidden_size: maybeInt,
  layout: int(0),
  linear_before_reset: flag(false),
  input_forget: flag(false),
  output_sequence: flag(true),
};

type Given = ValuesOf<typeof kRecurrent>;
type Activation = (x: eg.Tensor) => eg.Tensor;

// Each returns an activation function for its two constants.
const kActivations: Readonly<Record<string, (alpha?: number, beta?: number) => Activation>> = {
  relu: () => eg.relu,
  tanh: () => eg.tanh,
  sigmoid: () => eg.sigmoid,
  affine:
    (alpha = 1, beta = 0) =>
    (x) =>
      x.mul(alpha).add(beta),
  leakyrelu:
    (alpha = 0.01) =>
    (x) =>
      eg.leakyRelu(x, alpha),
  thresholdedrelu:
    (alpha = 1) =>
    (x) =>
      eg.threshold(x, alpha, 0),
  scaledtanh:
    (alpha = 1, beta = 1) =>
    (x) =>
      eg.tanh(x.mul(beta)).mul(alpha),
  hardsigmoid:
    (alpha = 0.2, beta = 0.5) =>
    (x) =>
      eg.clamp(x.mul(alpha).add(beta), 0, 1),
  elu:
    (alpha = 1) =>
    (x) =>
      eg.elu(x, alpha),
  softsign: () => eg.softsign,
  softplus: () => (x) => eg.softplus(x),
};

// How many alphas and betas each activation takes from the node's lists.
const kConstants: Readonly<Record<string, readonly [alpha: number, beta: number]>> = {
  affine: [1, 1],
  leakyrelu: [1, 0],
  thresholdedrelu: [1, 0],
  scaledtanh: [1, 1],
  hardsigmoid: [1, 1],
  elu: [1, 0],
};

/** Returns the activations of all directions, in order. */
function activationsOf(usual: readonly string[], given: Given, directions: number): Activation[] {
  const names = given.activations ?? range(directions).flatMap(() => [...usual]);
  const [alphas, betas] = [[...(given.activation_alpha ?? [])], [...(given.activation_beta ?? [])]];
  return names.map((name) => {
    const key = name.toLowerCase();
    const make = Object.hasOwn(kActivations, key) ? kActivations[key] : undefined;
    if (make === undefined)
      return fail(
        "InvalidArgument",
        "OnnxModule",
        `the activation "${name}" is not one of ONNX's.`,
      );
    const [alpha, beta] = kConstants[key] ?? [0, 0];
    return make(alpha ? alphas.shift() : undefined, beta ? betas.shift() : undefined);
  });
}

/** The parameters and settings of one direction. */
interface Layer {
  readonly weight: eg.Tensor;
  readonly hiddenWeight: eg.Tensor;
  readonly bias: eg.Tensor | null;
  readonly hiddenBias: eg.Tensor | null;
  readonly peepholes: readonly eg.Tensor[] | null;
  readonly activations: readonly Activation[];
  readonly given: Given;
}

type State = readonly eg.Tensor[];
/** Returns the next state, given the gates' share from the input. */
type Step = (gates: eg.Tensor, state: State, layer: Layer) => State;

const limited = (x: eg.Tensor, { given: { clip } }: Layer) =>
  clip === undefined ? x : eg.clamp(x, -clip, clip);

const simpleStep: Step = (gates, [hidden], layer) => {
  const sum = gates.add(eg.linear(hidden as eg.Tensor, layer.hiddenWeight, layer.hiddenBias));
  return [activated(layer, 0, sum)];
};

const activated = (layer: Layer, i: number, x: eg.Tensor) =>
  (layer.activations[i] as Activation)(limited(x, layer));

// Gate order: update, reset, hidden.
const gruStep: Step = (gates, [last], layer) => {
  const hidden = last as eg.Tensor;
  const [zIn, rIn, hIn] = eg.chunk(gates, 3, -1) as [eg.Tensor, eg.Tensor, eg.Tensor];
  const [zWeight, rWeight, hWeight] = eg.chunk(layer.hiddenWeight, 3, 0) as [
    eg.Tensor,
    eg.Tensor,
    eg.Tensor,
  ];
  const biases = layer.hiddenBias === null ? [null, null, null] : eg.chunk(layer.hiddenBias, 3, 0);
  const update = activated(layer, 0, zIn.add(eg.linear(hidden, zWeight, biases[0] ?? null)));
  const reset = activated(layer, 0, rIn.add(eg.linear(hidden, rWeight, biases[1] ?? null)));
  const inner = layer.given.linear_before_reset
    ? reset.mul(eg.linear(hidden, hWeight, biases[2] ?? null))
    : eg.linear(reset.mul(hidden), hWeight, biases[2] ?? null);
  const candidate = activated(layer, 1, hIn.add(inner));
  return [candidate.add(update.mul(hidden.sub(candidate)))];
};

// Gate order: input, output, forget, cell.
const lstmStep: Step = (gates, [hidden, cell], layer) => {
  const sums = gates.add(eg.linear(hidden as eg.Tensor, layer.hiddenWeight, layer.hiddenBias));
  const [i, o, f, c] = eg.chunk(sums, 4, -1) as [eg.Tensor, eg.Tensor, eg.Tensor, eg.Tensor];
  const last = cell as eg.Tensor;
  const [pi, po, pf] = layer.peepholes ?? [];
  const peeked = (gate: eg.Tensor, weight: eg.Tensor | undefined, state: eg.Tensor) =>
    activated(layer, 0, weight === undefined ? gate : gate.add(weight.mul(state)));
  const input = peeked(i, pi, last);
  const forget = layer.given.input_forget ? eg.sub(1, input) : peeked(f, pf, last);
  const next = forget.mul(last).add(input.mul(activated(layer, 1, c)));
  const output = peeked(o, po, next);
  return [output.mul((layer.activations[2] as Activation)(next)), next];
};

// Runs one direction over x [time, batch, input]; rows whose sequence has ended keep their state and output zeros.
function overTime(
  x: eg.Tensor,
  first: State,
  layer: Layer,
  step: Step,
  lengths: readonly number[] | undefined,
  isReverse: boolean,
): { outputs: eg.Tensor[]; last: State } {
  const time = x.shape[0] as number;
  const gates = eg.unbind(eg.linear(x, layer.weight, layer.bias), 0);
  const outputs: eg.Tensor[] = new Array(time);
  let state = first;
  for (const i of range(time)) {
    const t = isReverse ? time - 1 - i : i;
    const next = step(gates[t] as eg.Tensor, state, layer);
    const isOver = lengths?.some((length) => t >= length);
    if (!isOver) {
      state = next;
      outputs[t] = state[0] as eg.Tensor;
      continue;
    }
    const goesOn = eg
      .tensor(
        (lengths ?? []).map((length) => t < length),
        { device: x.device },
      )
      .reshape([-1, 1]);
    state = next.map((part, at) => eg.where(goesOn, part, state[at] as eg.Tensor));
    outputs[t] = eg.where(goesOn, next[0] as eg.Tensor, 0);
  }
  return { outputs, last: state };
}

interface Kind {
  readonly name: "RNN" | "GRU" | "LSTM";
  readonly states: number;
  readonly step: Step;
  readonly activations: readonly string[];
}

// Whether a layer of eg.nn computes the same result.
function isUsual([, , , , lengths, ...rest]: readonly Value[], given: Given, kind: Kind): boolean {
  const names = (given.activations ?? []).map((name) => name.toLowerCase());
  const wanted = kind.activations.map((name) => name.toLowerCase());
  const areUsual = names.every((name, i) => name === wanted[i % wanted.length]);
  const isOwn = kind.name !== "GRU" || given.linear_before_reset;
  const hasNone = lengths === undefined && rest[kind.states] === undefined;
  return areUsual && isOwn && hasNone && given.clip === undefined && !given.input_forget;
}

function usual(inputs: readonly Value[], given: Given, kind: Kind, x: eg.Tensor): Value[] {
  const [, weights, hiddenWeights, biases, , ...rest] = inputs;
  const [weight, hiddenWeight] = [tensor(weights), tensor(hiddenWeights)];
  const isBatchFirst = given.layout === 1;
  const turned = (state: eg.Tensor) => (isBatchFirst ? eg.transpose(state, 0, 1) : state);
  const shape = [weight.shape[0] as number, x.shape[1] as number, hiddenWeight.shape[2] as number];
  const initial = range(kind.states).map((i) => {
    const start = tensorOrNull(rest[i]);
    return start === null ? eg.zeros(shape, { dtype: x.dtype, device: x.device }) : turned(start);
  });
  const [outputs, ...last] = runLayer({
    kind: kind.name,
    x,
    weight,
    hiddenWeight,
    bias: tensorOrNull(biases),
    initial,
    isReverse: given.direction === "reverse",
  });
  const ordered = isBatchFirst ? eg.permute(outputs as eg.Tensor, [2, 0, 1, 3]) : outputs;
  return [ordered, ...last.map(turned)];
}

function recurrent(inputs: readonly Value[], given: Given, kind: Kind): Value[] {
  const [input, weights, hiddenWeights, biases, lengths, ...rest] = inputs;
  const isBatchFirst = given.layout === 1;
  const x = isBatchFirst ? eg.transpose(tensor(input), 0, 1) : tensor(input);
  const [w, r, b] = [tensor(weights), tensor(hiddenWeights), tensorOrNull(biases)];
  const directions = w.shape[0] as number;
  const size = r.shape[2] as number;
  if (isUsual(inputs, given, kind)) return usual(inputs, given, kind, x);
  const activations = activationsOf(kind.activations, given, directions);
  const perDirection = kind.activations.length;
  const initial = rest.slice(0, kind.states).map(tensorOrNull);
  const peepholes = tensorOrNull(rest[kind.states]);
  const results = range(directions).map((at) => {
    const [bias, hiddenBias] = b === null ? [null, null] : eg.chunk(eg.select(b, 0, at), 2, 0);
    const layer = {
      weight: eg.select(w, 0, at),
      hiddenWeight: eg.select(r, 0, at),
      bias: bias ?? null,
      hiddenBias: hiddenBias ?? null,
      peepholes: peepholes === null ? null : eg.chunk(eg.select(peepholes, 0, at), 3, 0),
      activations: activations.slice(at * perDirection, (at + 1) * perDirection),
      given,
    };
    const first = range(kind.states).map((i) => {
      const start = initial[i];
      if (start) return eg.select(start, isBatchFirst ? 1 : 0, at);
      return eg.zeros([x.shape[1] as number, size], { dtype: x.dtype, device: x.device });
    });
    const isReverse = given.direction === "reverse" || at === 1;
    return overTime(x, first, layer, kind.step, ints(lengths), isReverse);
  });
  const outputs = eg.stack(
    results.map((result) => eg.stack(result.outputs, 0)),
    1,
  );
  const last = range(kind.states).map((i) =>
    eg.stack(
      results.map((result) => result.last[i] as eg.Tensor),
      isBatchFirst ? 1 : 0,
    ),
  );
  return [isBatchFirst ? eg.permute(outputs, [2, 0, 1, 3]) : outputs, ...last];
}

const recurrentOp = (kind: Kind): Op =>
  op({
    attributes: kRecurrent,
    settings: [4],
    weights: [1, 2, 3, 5 + kind.states],
    run: (inputs, given) => recurrent(inputs, given, kind),
  });

export const kRecurrentOps: Ops = {
  RNN: recurrentOp({ name: "RNN", states: 1, step: simpleStep, activations: ["Tanh"] }),
  GRU: recurrentOp({ name: "GRU", states: 1, step: gruStep, activations: ["Sigmoid", "Tanh"] }),
  LSTM: recurrentOp({
    name: "LSTM",
    states: 2,
    step: lstmStep,
    activations: ["Sigmoid", "Tanh", "Tanh"],
  }),
};
