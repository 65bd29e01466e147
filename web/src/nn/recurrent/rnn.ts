// RNN, LSTM and GRU: what happens in one step of each.

import { readArguments } from "../../arguments/read.js";
import { integer, type Options, oneOf } from "../../arguments/rule.js";
import { add, chunk, linear, mul, relu, sigmoid, sub, tanh } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments } from "../layer_options.js";
import {
  type CellWeights,
  kRecurrentArguments,
  kRecurrentOptions,
  kRecurrentSizes,
  RecurrentBase,
  type RecurrentOptions,
} from "./recurrent.js";

const kRNNArguments = {
  ...kRecurrentSizes,
  /** The function of a step; default "tanh". */
  nonlinearity: oneOf("tanh", "relu").or("tanh").saying("Unknown nonlinearity."),
  ...kRecurrentOptions,
  ...kLayerArguments,
};

const kLSTMArguments = {
  ...kRecurrentSizes,
  ...kRecurrentOptions,
  /** The size of a learned projection of the output; default 0, none. */
  projSize: integer.or(0),
  ...kLayerArguments,
};

/** Options of `RNN`. */
export type RNNOptions = RecurrentOptions & Pick<Options<typeof kRNNArguments>, "nonlinearity">;

/** Options of `LSTM`. */
export type LSTMOptions = RecurrentOptions & Pick<Options<typeof kLSTMArguments>, "projSize">;

/** Options of `GRU`. */
export type GRUOptions = RecurrentOptions;

/** Steps of h' = tanh(W_ih x + b_ih + W_hh h + b_hh). */
export class RNN extends RecurrentBase {
  readonly nonlinearity: "tanh" | "relu";

  constructor(inputSize: number, hiddenSize: number, options?: RNNOptions);
  constructor(
    inputSize: number,
    hiddenSize: number,
    numLayers: number,
    nonlinearity?: "tanh" | "relu",
    bias?: boolean,
    batchFirst?: boolean,
    dropout?: number,
    bidirectional?: boolean,
    options?: RNNOptions,
  );
  constructor(inputSize: number, hiddenSize: number, numLayers: number, options: RNNOptions);
  constructor(...given: unknown[]) {
    const { nonlinearity, ...values } = readArguments(new.target.name, kRNNArguments, given);
    super({ gates: 1 }, values);
    this.nonlinearity = nonlinearity;
  }

  /** Returns the outputs of all steps and the last state of each layer and direction. */
  override forward(input: Tensor, hx: Tensor | null = null): [Tensor, Tensor] {
    return scope(() => {
      const [output, [last]] = this.run(input, hx === null ? null : [hx]);
      return [output, last as Tensor];
    });
  }

  protected override cell(
    inputGates: Tensor,
    [hidden]: readonly [Tensor],
    { hiddenWeight, hiddenBias }: CellWeights,
  ): Tensor[] {
    const sum = add(inputGates, linear(hidden, hiddenWeight, hiddenBias));
    return [this.nonlinearity === "tanh" ? tanh(sum) : relu(sum)];
  }
}

/** Long short-term memory: a cell state that gates write, keep and show. */
export class LSTM extends RecurrentBase {
  constructor(inputSize: number, hiddenSize: number, options?: LSTMOptions);
  constructor(
    inputSize: number,
    hiddenSize: number,
    numLayers: number,
    bias?: boolean,
    batchFirst?: boolean,
    dropout?: number,
    bidirectional?: boolean,
    projSize?: number,
    options?: LSTMOptions,
  );
  constructor(inputSize: number, hiddenSize: number, numLayers: number, options: LSTMOptions);
  constructor(...given: unknown[]) {
    const { projSize, ...values } = readArguments(new.target.name, kLSTMArguments, given);
    super({ gates: 4, projSize }, values);
  }

  /** Returns the outputs of all steps, and the last output and cell state of each layer and direction. */
  override forward(
    input: Tensor,
    hx: readonly [Tensor, Tensor] | null = null,
  ): [Tensor, [Tensor, Tensor]] {
    return scope(() => {
      const [output, [hidden, state]] = this.run(input, hx);
      return [output, [hidden as Tensor, state as Tensor]];
    });
  }

  protected override stateSizes(): number[] {
    return [...super.stateSizes(), this.hiddenSize];
  }

  protected override cell(
    inputGates: Tensor,
    [hidden, state]: readonly [Tensor, Tensor],
    { hiddenWeight, hiddenBias, projection }: CellWeights,
  ): Tensor[] {
    const gates = add(inputGates, linear(hidden, hiddenWeight, hiddenBias));
    const [input, forget, candidate, output] = chunk(gates, 4, -1) as Gates4;
    const next = add(mul(sigmoid(forget), state), mul(sigmoid(input), tanh(candidate)));
    const shown = mul(sigmoid(output), tanh(next));
    return [projection === null ? shown : linear(shown, projection), next];
  }
}

/** Gated recurrent units: a state that one gate forgets for the candidate and one keeps. */
export class GRU extends RecurrentBase {
  constructor(inputSize: number, hiddenSize: number, options?: GRUOptions);
  constructor(
    inputSize: number,
    hiddenSize: number,
    numLayers: number,
    bias?: boolean,
    batchFirst?: boolean,
    dropout?: number,
    bidirectional?: boolean,
    options?: GRUOptions,
  );
  constructor(inputSize: number, hiddenSize: number, numLayers: number, options: GRUOptions);
  constructor(...given: unknown[]) {
    super({ gates: 3 }, readArguments(new.target.name, kRecurrentArguments, given));
  }

  /** Returns the outputs of all steps and the last state of each layer and direction. */
  override forward(input: Tensor, hx: Tensor | null = null): [Tensor, Tensor] {
    return scope(() => {
      const [output, [last]] = this.run(input, hx === null ? null : [hx]);
      return [output, last as Tensor];
    });
  }

  protected override cell(
    inputGates: Tensor,
    [hidden]: readonly [Tensor],
    { hiddenWeight, hiddenBias }: CellWeights,
  ): Tensor[] {
    const hiddenGates = chunk(linear(hidden, hiddenWeight, hiddenBias), 3, -1) as Gates3;
    const [reset, update, candidate] = chunk(inputGates, 3, -1) as Gates3;
    const forget = sigmoid(add(reset, hiddenGates[0]));
    const keep = sigmoid(add(update, hiddenGates[1]));
    const next = tanh(add(candidate, mul(forget, hiddenGates[2])));
    return [add(mul(sub(hidden, next), keep), next)];
  }
}

type Gates3 = [Tensor, Tensor, Tensor];
type Gates4 = [Tensor, Tensor, Tensor, Tensor];
