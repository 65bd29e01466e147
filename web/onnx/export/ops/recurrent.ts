// LSTM, GRU and RNN. ONNX orders the gates differently, so nodes split and concatenate the parameters. The parameters keep their
// names, and a reader that folds constants reorders them once.

import { nn } from "edgegrad";
import type { Call, Writer, Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import { type Step, Value } from "../values.js";

// The indices of PyTorch's gates (input, forget, cell, output; reset, update, new) in ONNX's order.
const kOrders = { LSTM: [0, 3, 1, 2], GRU: [1, 0, 2], RNN: [0] } as const;

type Kind = keyof typeof kOrders;

// A parameter with its gates in ONNX's order and a dimension for the direction.
function reorderGates(c: Call, value: Value, kind: Kind): Name {
  const order = kOrders[kind];
  const name = c.as(value, c.out.dtype);
  if (order.length === 1) return c.unsqueeze(name, [0]);
  const size = c.fixedNumber("the number of gates", value.size(0)) / order.length;
  const parts = c.graph.outputs(
    "Split",
    [name, c.list(order.map(() => size))],
    { axis: 0 },
    order.length,
  );
  return c.unsqueeze(
    c.node(
      "Concat",
      order.map((i) => parts[i] as Name),
      { axis: 0 },
    ),
    [0],
  );
}

interface Direction {
  readonly inputWeight: Name;
  readonly hiddenWeight: Name;
  /** The biases of input and state; null means zeros. */
  readonly biases: Name | null;
}

interface Layer {
  readonly kind: Kind;
  readonly input: Name;
  readonly directions: readonly Direction[];
  readonly direction: "forward" | "reverse" | "bidirectional";
  readonly hiddenSize: number;
  readonly hidden: Name | null;
  readonly state: Name | null;
  readonly activation: string | null;
}

// Adds the node of a layer; returns its outputs as [steps, batch, directions * features], and the last states.
function layer(c: Call, given: Layer): [outputs: Name, hidden: Name, state: Name | null] {
  const { kind, directions } = given;
  const joined = (names: readonly Name[]) =>
    names.length === 1 ? (names[0] as Name) : c.node("Concat", names, { axis: 0 });
  const biases = directions.map((direction) => direction.biases);
  const bias = biases.includes(null) ? null : joined(biases as Name[]);
  const isLstm = kind === "LSTM";
  const inputs = [
    given.input,
    joined(directions.map((direction) => direction.inputWeight)),
    joined(directions.map((direction) => direction.hiddenWeight)),
    bias,
    null,
    given.hidden,
    ...(isLstm ? [given.state] : []),
  ];
  const activations =
    given.activation === null
      ? undefined
      : { strings: directions.map(() => given.activation as string) };
  const attributes = {
    hidden_size: given.hiddenSize,
    direction: given.direction,
    activations,
    linear_before_reset: kind === "GRU" ? 1 : undefined,
  };
  const [all, hidden, state = null] = c.graph.outputs(kind, inputs, attributes, isLstm ? 3 : 2) as [
    Name,
    Name,
    Name?,
  ];
  // [steps, directions, batch, features]
  const outputs = c.node("Reshape", [c.transpose(all, [0, 2, 1, 3]), c.list([0, 0, -1])]);
  return [outputs, hidden, state];
}

// All steps of a layer. linear() has computed the gates' share from the input before, but the node computes that itself.
function steps(c: Call, kind: Kind, activation: string | null): Name[] {
  const gates = c.value("inputGates");
  const maker = c.exporter.makers.get(gates) as Step | undefined;
  const [input, weight] = [maker?.values.input, maker?.values.weight];
  if (maker?.op !== "linear" || !(input instanceof Value) || !(weight instanceof Value)) {
    noForm("gates that do not come from linear()");
  }
  const hiddenWeight = c.value("weight");
  const biases = [maker.values.bias, c.arg("bias")].filter(
    (value): value is Value => value instanceof Value,
  );
  const direction = {
    inputWeight: reorderGates(c, weight, kind),
    hiddenWeight: reorderGates(c, hiddenWeight, kind),
    biases: biasesOf(c, biases, kind),
  };
  const [outputs, hidden, last] = layer(c, {
    kind,
    input: c.as(input),
    directions: [direction],
    direction: c.is("reverse") ? "reverse" : "forward",
    hiddenSize: hiddenWeight.shape[1] as number,
    hidden: c.unsqueeze(c.in("hidden"), [0]),
    state: kind === "LSTM" ? c.unsqueeze(c.in("state"), [0]) : null,
    activation,
  });
  const states = last === null ? [hidden] : [hidden, last];
  return [outputs, ...states.map((state) => c.squeeze(state, [0]))];
}

const kActivations = { tanh: "Tanh", relu: "Relu" } as const;

function biasesOf(c: Call, biases: readonly Value[], kind: Kind): Name | null {
  if (biases.length !== 2) return null;
  return c.node(
    "Concat",
    biases.map((bias) => reorderGates(c, bias, kind)),
    { axis: 1 },
  );
}

// A whole layer of the package, which computes its steps in sequence.
const module_: Writer = (c) => {
  const module = c.arg("module") as nn.GRU | nn.RNN;
  const kind: Kind = module instanceof nn.GRU ? "GRU" : "RNN";
  const parameters = c.arg("parameters") as Readonly<Record<string, Value>>;
  const isSingle = c.value("input").rank === 2;
  if (module.training && module.dropout > 0) noForm("dropout between layers in training");
  const isTurned = module.batchFirst && !isSingle;
  let value = isSingle ? c.unsqueeze(c.in("input"), [1]) : c.in("input");
  if (isTurned) value = c.transpose(value, [1, 0, 2]);
  const initial = c.optional("hx");
  const states =
    initial === null ? null : isSingle ? c.unsqueeze(c.as(initial), [1]) : c.as(initial);
  const suffixes = module.bidirectional ? ["", "_reverse"] : [""];
  const finals: Name[] = [];
  for (let i = 0; i < module.numLayers; i++) {
    const directions = suffixes.map((suffix) => {
      const of = (name: string) => parameters[`${name}_l${i}${suffix}`] as Value;
      return {
        inputWeight: reorderGates(c, of("weight_ih"), kind),
        hiddenWeight: reorderGates(c, of("weight_hh"), kind),
        biases: module.bias ? biasesOf(c, [of("bias_ih"), of("bias_hh")], kind) : null,
      };
    });
    const count = suffixes.length;
    const [outputs, last] = layer(c, {
      kind,
      input: value,
      directions,
      direction: module.bidirectional ? "bidirectional" : "forward",
      hiddenSize: module.hiddenSize,
      hidden: states === null ? null : c.slice(states, 0, i * count, (i + 1) * count),
      state: null,
      activation: module instanceof nn.RNN ? kActivations[module.nonlinearity] : null,
    });
    value = outputs;
    finals.push(last);
  }
  if (isTurned) value = c.transpose(value, [1, 0, 2]);
  const last = finals.length === 1 ? (finals[0] as Name) : c.node("Concat", finals, { axis: 0 });
  return isSingle ? [c.squeeze(value, [1]), c.squeeze(last, [1])] : [value, last];
};

/** LSTM, GRU and RNN. */
export const kRecurrent: Writers = {
  lstmSteps: (c) => steps(c, "LSTM", null),
  gruSteps: (c) => steps(c, "GRU", null),
  rnnSteps: (c) => steps(c, "RNN", kActivations[c.arg("nonlinearity") as nn.RNN["nonlinearity"]]),
};

/** Layers of the package that are single nodes in ONNX; cases that the node does not cover are written as their parts. */
export const kRecurrentLayers: Writers = { GRU: module_, RNN: module_ };
