// Recurrent layers that eg.nn computes: it processes several steps at once, twice as fast as single steps.

import * as eg from "edgegrad";
import { range } from "./axes.js";

/** For each kind of layer, eg.nn's gates as indices into ONNX's order. */
const kGateOrder = {
  RNN: [0],
  // ONNX: update, reset, hidden; eg.nn: reset, update, new.
  GRU: [1, 0, 2],
  // ONNX: input, output, forget, cell; eg.nn: input, forget, cell, output.
  LSTM: [0, 2, 3, 1],
} as const;

/** The inputs of a layer; `initial` has the states before the first step. */
export interface LayerInputs {
  readonly kind: keyof typeof kGateOrder;
  /** [time, batch, input] */
  readonly x: eg.Tensor;
  readonly weight: eg.Tensor;
  readonly hiddenWeight: eg.Tensor;
  readonly bias: eg.Tensor | null;
  /** [directions, batch, hidden] */
  readonly initial: readonly eg.Tensor[];
  readonly isReverse: boolean;
}

/** Returns the outputs [time, directions, batch, hidden] and the last states. */
export function runLayer(inputs: LayerInputs): eg.Tensor[] {
  const { kind, x, weight, bias, initial, isReverse } = inputs;
  const [directions = 1, , size = 1] = weight.shape;
  const hidden = inputs.hiddenWeight.shape[2] as number;
  const layer = layerOf(kind, size, hidden, bias !== null, directions === 2);
  const source = isReverse ? eg.flip(x, [0]) : x;
  const hx = kind === "LSTM" ? [...initial] : (initial[0] as eg.Tensor);
  const [outputs, last] = eg.func.functionalCall(layer, parametersOf(inputs), [source, hx]) as [
    eg.Tensor,
    eg.Tensor | [eg.Tensor, eg.Tensor],
  ];
  const ordered = isReverse ? eg.flip(outputs, [0]) : outputs;
  const [time = 0, batch = 0] = x.shape;
  const split = ordered.reshape([time, batch, directions, hidden]);
  return [eg.permute(split, [0, 2, 1, 3]), ...(Array.isArray(last) ? last : [last])];
}

function parametersOf({
  kind,
  weight,
  hiddenWeight,
  bias,
}: LayerInputs): Record<string, eg.Tensor> {
  const parameters: Record<string, eg.Tensor> = {};
  for (const at of range(weight.shape[0] as number)) {
    const ending = at === 0 ? "" : "_reverse";
    const own = (x: eg.Tensor) => reorder(eg.select(x, 0, at), kGateOrder[kind]);
    parameters[`weight_ih_l0${ending}`] = own(weight);
    parameters[`weight_hh_l0${ending}`] = own(hiddenWeight);
    if (bias === null) continue;
    const [first, second] = eg.chunk(eg.select(bias, 0, at), 2, 0) as [eg.Tensor, eg.Tensor];
    parameters[`bias_ih_l0${ending}`] = reorder(first, kGateOrder[kind]);
    parameters[`bias_hh_l0${ending}`] = reorder(second, kGateOrder[kind]);
  }
  return parameters;
}

function reorder(x: eg.Tensor, order: readonly number[]): eg.Tensor {
  if (order.length === 1) return x;
  const gates = eg.chunk(x, order.length, 0);
  return eg.cat(
    order.map((gate) => gates[gate] as eg.Tensor),
    0,
  );
}

// Layers by their arguments; their own weights are never used.
const layers = new Map<string, eg.nn.Module>();

function layerOf(
  kind: keyof typeof kGateOrder,
  size: number,
  hidden: number,
  bias: boolean,
  bidirectional: boolean,
): eg.nn.Module {
  const key = [kind, size, hidden, bias, bidirectional].join();
  const known = layers.get(key);
  // After a shutdown of the engine, the layer is created again.
  if (known !== undefined && !known.parameters()[0]?.disposed) return known;
  // Creating a layer draws random weights, which must not affect the random numbers of the program.
  const state = eg.random.getState();
  const options = { bias, bidirectional };
  const made = eg.keep(
    kind === "LSTM"
      ? new eg.nn.LSTM(size, hidden, options)
      : kind === "GRU"
        ? new eg.nn.GRU(size, hidden, options)
        : new eg.nn.RNN(size, hidden, options),
  );
  eg.random.setState(state);
  layers.set(key, made);
  return made;
}
