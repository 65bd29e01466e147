// RNN, LSTM and GRU: their arguments, and one step of each.

import { readArguments } from "../../arguments/read.js";
import { integer, type Options, oneOf } from "../../arguments/rule.js";
import { gruSteps, lstmSteps, rnnSteps } from "../../generated/internal.js";
import { linear } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments } from "../layer_options.js";
import type { PackedSequence, Sequence } from "./packed_sequence.js";
import {
  type CellWeights,
  kRecurrentArguments,
  kRecurrentOptions,
  kRecurrentSizes,
  RecurrentBase,
  type RecurrentOptions,
} from "./recurrent.js";
import { gruStep, lstmStep, rnnStep } from "./steps.js";

const kRNNArguments = {
  ...kRecurrentSizes,
  /** The activation function; default "tanh". */
  nonlinearity: oneOf("tanh", "relu").or("tanh"),
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

/** An output and a cell state of `LSTM`. */
export type LSTMState = readonly [hidden: Tensor, state: Tensor];

/** Options of `RNN`. */
export type RNNOptions = RecurrentOptions & Pick<Options<typeof kRNNArguments>, "nonlinearity">;

/** Options of `LSTM`. */
export type LSTMOptions = RecurrentOptions & Pick<Options<typeof kLSTMArguments>, "projSize">;

/** Options of `GRU`. */
export type GRUOptions = RecurrentOptions;

/** A recurrent layer with one state. */
abstract class OneStateLayer extends RecurrentBase {
  override call(input: PackedSequence, hx?: Tensor | null): [PackedSequence, Tensor];
  override call(input: Tensor, hx?: Tensor | null): [Tensor, Tensor];
  override call(...given: never[]): unknown {
    return super.call(...given);
  }

  /** Returns the outputs of all steps and the last state of each layer and direction. */
  override forward(input: PackedSequence, hx?: Tensor | null): [PackedSequence, Tensor];
  override forward(input: Tensor, hx?: Tensor | null): [Tensor, Tensor];
  override forward(input: Sequence, hx: Tensor | null = null): unknown {
    return scope(() => {
      const [output, [last]] = this.run(input, hx === null ? null : [hx]);
      return [output, last as Tensor];
    });
  }
}

/** A recurrent layer with the steps h' = tanh(W_ih x + b_ih + W_hh h + b_hh). */
export class RNN extends OneStateLayer {
  readonly nonlinearity: "tanh" | "relu";

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
  constructor(inputSize: number, hiddenSize: number, options?: RNNOptions);
  constructor(...given: unknown[]) {
    const { nonlinearity, ...values } = readArguments(new.target.name, kRNNArguments, given);
    super({ gates: 1 }, values);
    this.nonlinearity = nonlinearity;
  }

  protected override allSteps(
    inputGates: Tensor,
    [hidden]: readonly [Tensor],
    { hiddenWeight, hiddenBias }: CellWeights,
    isReverse: boolean,
  ): [Tensor, readonly Tensor[]] {
    const [output, ...last] = rnnSteps(
      inputGates,
      hidden,
      hiddenWeight,
      hiddenBias,
      this.nonlinearity,
      isReverse,
    );
    return [output, last];
  }

  protected override cell(
    inputGates: Tensor,
    [hidden]: readonly [Tensor],
    weights: CellWeights,
  ): Tensor[] {
    return [rnnStep(inputGates, hidden, weights, this.nonlinearity)];
  }
}

/** Long short-term memory: gates decide what a cell state adds, keeps and outputs. */
export class LSTM extends RecurrentBase {
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
  constructor(inputSize: number, hiddenSize: number, options?: LSTMOptions);
  constructor(...given: unknown[]) {
    const { projSize, ...values } = readArguments(new.target.name, kLSTMArguments, given);
    super({ gates: 4, projSize }, values);
  }

  override call(input: PackedSequence, hx?: LSTMState | null): [PackedSequence, [Tensor, Tensor]];
  override call(input: Tensor, hx?: LSTMState | null): [Tensor, [Tensor, Tensor]];
  override call(...given: never[]): unknown {
    return super.call(...given);
  }

  /** Returns the outputs of all steps, and the last output and cell state of each layer and direction. */
  override forward(
    input: PackedSequence,
    hx?: LSTMState | null,
  ): [PackedSequence, [Tensor, Tensor]];
  override forward(input: Tensor, hx?: LSTMState | null): [Tensor, [Tensor, Tensor]];
  override forward(input: Sequence, hx: LSTMState | null = null): unknown {
    return scope(() => this.run(input, hx));
  }

  protected override stateSizes(): number[] {
    return [...super.stateSizes(), this.hiddenSize];
  }

  protected override allSteps(
    inputGates: Tensor,
    initial: readonly Tensor[],
    { hiddenWeight, hiddenBias, projection }: CellWeights,
    isReverse: boolean,
  ): [Tensor, readonly Tensor[]] | null {
    if (projection !== null) return null;
    const [hidden, state] = initial as [Tensor, Tensor];
    const [output, ...last] = lstmSteps(
      inputGates,
      hidden,
      state,
      hiddenWeight,
      hiddenBias,
      isReverse,
    );
    return [output, last];
  }

  protected override cell(
    inputGates: Tensor,
    [hidden, state]: readonly [Tensor, Tensor],
    weights: CellWeights,
  ): Tensor[] {
    const [shown, next] = lstmStep(inputGates, hidden, state, weights);
    const { projection } = weights;
    return [projection === null ? shown : linear(shown, projection), next];
  }
}

/** Gated recurrent units: one gate resets the state for the candidate, another mixes the two. */
export class GRU extends OneStateLayer {
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
  constructor(inputSize: number, hiddenSize: number, options?: GRUOptions);
  constructor(...given: unknown[]) {
    super({ gates: 3 }, readArguments(new.target.name, kRecurrentArguments, given));
  }

  protected override allSteps(
    inputGates: Tensor,
    [hidden]: readonly [Tensor],
    { hiddenWeight, hiddenBias }: CellWeights,
    isReverse: boolean,
  ): [Tensor, readonly Tensor[]] {
    const [output, ...last] = gruSteps(inputGates, hidden, hiddenWeight, hiddenBias, isReverse);
    return [output, last];
  }

  protected override cell(
    inputGates: Tensor,
    [hidden]: readonly [Tensor],
    weights: CellWeights,
  ): Tensor[] {
    return [gruStep(inputGates, hidden, weights)];
  }
}
