// RNNCell, LSTMCell and GRUCell: one step at a time.

import { readArguments } from "../../arguments/read.js";
import { boolean, type Options, oneOf, size, type Values } from "../../arguments/rule.js";
import { empty, linear, squeeze, unsqueeze, zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { needsPart } from "../../runtime/start/parts.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { uniform_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";
import { gruStep, type HiddenWeights, lstmStep, type Nonlinearity, rnnStep } from "./steps.js";

needsPart("extras");

const kSizes = { inputSize: size, hiddenSize: size };

const kBias = {
  /** Add learned biases; default true. */
  bias: boolean.or(true),
};

const kOptions = { ...kBias, ...kLayerArguments };

const kCellArguments = { ...kSizes, ...kOptions };

const kRNNCellOptions = {
  ...kBias,
  /** The activation function; default "tanh". */
  nonlinearity: oneOf("tanh", "relu").or("tanh"),
  ...kLayerArguments,
};

const kRNNCellArguments = { ...kSizes, ...kRNNCellOptions };

/** Options of `LSTMCell` and `GRUCell`. */
export type CellOptions = Options<typeof kOptions & typeof kLayerArguments>;

/** Options of `RNNCell`. */
export type RNNCellOptions = Options<typeof kRNNCellOptions & typeof kLayerArguments>;

/** The arguments of `LSTMCell` and `GRUCell` after the sizes. */
export type CellArguments = [options?: CellOptions] | [bias?: boolean, options?: LayerOptions];

// The base of all cells. Parameters have the names that they have in a state dict.
abstract class RecurrentCell extends Module {
  readonly inputSize: number;
  readonly hiddenSize: number;
  readonly bias: boolean;
  weight_ih: Parameter;
  weight_hh: Parameter;
  bias_ih: Parameter | null;
  bias_hh: Parameter | null;

  constructor(gates: number, values: Values<typeof kCellArguments>) {
    super();
    const name = new.target.name;
    const { inputSize, hiddenSize, bias, ...kind } = values;
    this.inputSize = inputSize;
    this.hiddenSize = hiddenSize;
    this.bias = bias;
    const rows = gates * hiddenSize;
    this.weight_ih = parameterOf(name, empty, [rows, inputSize], kind);
    this.weight_hh = parameterOf(name, empty, [rows, hiddenSize], kind);
    this.bias_ih = bias ? parameterOf(name, empty, [rows], kind) : null;
    this.bias_hh = bias ? parameterOf(name, empty, [rows], kind) : null;
    this.resetParameters();
  }

  /** Draws new weights and biases. */
  resetParameters(): void {
    const bound = this.hiddenSize > 0 ? 1 / Math.sqrt(this.hiddenSize) : 0;
    for (const parameter of this.parameters()) uniform_(parameter, -bound, bound);
  }

  override extraRepr(): string {
    return formatArguments([this.inputSize, this.hiddenSize], {
      bias: this.bias ? undefined : false,
    });
  }

  /** Returns the next states for an input [batch, features] or [features] and the given states; null stands for zeros. */
  protected step(
    input: Tensor,
    given: readonly (Tensor | null | undefined)[],
    compute: (inputGates: Tensor, states: readonly Tensor[], weights: HiddenWeights) => Tensor[],
  ): Tensor[] {
    return scope(() => {
      const { ndim, shape } = tensorRule.check(this.constructor.name, "input", input);
      if (ndim !== 1 && ndim !== 2) this.refuse(`expected a 1D or 2D input, got ${ndim}D.`);
      if (shape[ndim - 1] !== this.inputSize) {
        this.refuse(
          `expected an input of ${this.inputSize} features (inputSize), got ${shape[ndim - 1]}.`,
        );
      }
      const batch = ndim === 2 ? input : unsqueeze(input, 0);
      const states = given.map((state, i) => this.stateFor(input, state ?? null, i));
      const weights = { hiddenWeight: this.weight_hh, hiddenBias: this.bias_hh };
      const gates = linear(batch, this.weight_ih, this.bias_ih);
      const next = compute(gates, states, weights);
      return ndim === 2 ? next : next.map((state) => squeeze(state, 0));
    });
  }

  // Returns the state as a batch.
  private stateFor(input: Tensor, given: Tensor | null, i: number): Tensor {
    const { dtype, device } = input;
    const rows = input.ndim === 2 ? (input.shape[0] as number) : 1;
    if (given === null) return zeros([rows, this.hiddenSize], { dtype, device });
    const state = tensorRule.check(this.constructor.name, `hidden[${i}]`, given);
    const expected = [...input.shape.slice(0, -1), this.hiddenSize];
    if (String(state.shape) !== String(expected)) {
      this.refuse(
        `hidden[${i}]: expected the shape [${expected.join(", ")}], got [${state.shape.join(", ")}].`,
      );
    }
    return input.ndim === 2 ? state : unsqueeze(state, 0);
  }

  private refuse(message: string): never {
    fail("ShapeMismatch", this.constructor.name, message);
  }
}

/** One step of h' = tanh(W_ih x + b_ih + W_hh h + b_hh). */
export class RNNCell extends RecurrentCell {
  readonly nonlinearity: Nonlinearity;

  constructor(
    inputSize: number,
    hiddenSize: number,
    bias?: boolean,
    nonlinearity?: Nonlinearity,
    options?: LayerOptions,
  );
  constructor(inputSize: number, hiddenSize: number, options?: RNNCellOptions);
  constructor(...given: unknown[]) {
    const { nonlinearity, ...values } = readArguments(new.target.name, kRNNCellArguments, given);
    super(1, values);
    this.nonlinearity = nonlinearity;
  }

  /** Returns the next state of an input [batch?, inputSize]. */
  override forward(input: Tensor, hx: Tensor | null = null): Tensor {
    return this.step(input, [hx], (gates, [hidden], weights) => {
      return [rnnStep(gates, hidden as Tensor, weights, this.nonlinearity)];
    })[0] as Tensor;
  }

  /** Returns the arguments, for the text of the cell. */
  override extraRepr(): string {
    const { nonlinearity } = this;
    const own = nonlinearity === "tanh" ? [] : [`nonlinearity=${nonlinearity}`];
    return [super.extraRepr(), ...own].join(", ");
  }
}

/** One step of long short-term memory. */
export class LSTMCell extends RecurrentCell {
  constructor(inputSize: number, hiddenSize: number, bias?: boolean, options?: LayerOptions);
  constructor(inputSize: number, hiddenSize: number, options?: CellOptions);
  constructor(...given: unknown[]) {
    super(4, readArguments(new.target.name, kCellArguments, given));
  }

  /** Returns the next output and cell state of an input [batch?, inputSize]. */
  override forward(
    input: Tensor,
    hx: readonly [hidden: Tensor, state: Tensor] | null = null,
  ): [hidden: Tensor, state: Tensor] {
    return this.step(input, [hx?.[0], hx?.[1]], (gates, [hidden, state], weights) => {
      return lstmStep(gates, hidden as Tensor, state as Tensor, weights);
    }) as [Tensor, Tensor];
  }
}

/** One step of gated recurrent units. */
export class GRUCell extends RecurrentCell {
  constructor(inputSize: number, hiddenSize: number, bias?: boolean, options?: LayerOptions);
  constructor(inputSize: number, hiddenSize: number, options?: CellOptions);
  constructor(...given: unknown[]) {
    super(3, readArguments(new.target.name, kCellArguments, given));
  }

  /** Returns the next state of an input [batch?, inputSize]. */
  override forward(input: Tensor, hx: Tensor | null = null): Tensor {
    return this.step(input, [hx], (gates, [hidden], weights) => {
      return [gruStep(gates, hidden as Tensor, weights)];
    })[0] as Tensor;
  }
}
