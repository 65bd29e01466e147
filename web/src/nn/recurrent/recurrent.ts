// The base of RNN, LSTM and GRU. A layer processes its input step by step, in one or both directions; the first layer receives
// the input, each further one the outputs of the layer before. The part of the gates that depends on the input needs no state,
// so it is computed for all steps at once.

import { boolean, integer, number, type Options, size, type Values } from "../../arguments/rule.js";
import {
  cat,
  dropout,
  empty,
  linear,
  stack,
  transpose,
  unbind,
  zeros,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { needsPart } from "../../runtime/start/parts.js";
import { ownView } from "../../tensor/own_result.js";
import { tensorRule } from "../../tensor/rules.js";
import { Tensor } from "../../tensor/tensor.js";
import { uniform_ } from "../init.js";
import { kLayerArguments, type LayerKind, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import { numbersIn, PackedSequence, rowsInOrder, type Sequence } from "./packed_sequence.js";
import { kEqualSteps, Rows, type Steps, unequalSteps } from "./rows.js";
import type { HiddenWeights } from "./steps.js";

needsPart("extras");

/** The first arguments of all recurrent layers. */
export const kRecurrentSizes = {
  inputSize: size,
  hiddenSize: integer,
  /** The number of layers, each applied to the outputs of the one before; default 1. */
  numLayers: integer.or(1),
};

/** The arguments of all recurrent layers after those that only some have. */
export const kRecurrentOptions = {
  /** Add learned biases; default true. */
  bias: boolean.or(true),
  /** The batch is dimension 0 of input and output instead of 1; default false. */
  batchFirst: boolean.or(false),
  /** The probability of dropout between layers; default 0. */
  dropout: number.or(0),
  /** Also process the input from its end; default false. */
  bidirectional: boolean.or(false),
};

/** The arguments of `GRU`, which all recurrent layers take. */
export const kRecurrentArguments = {
  ...kRecurrentSizes,
  ...kRecurrentOptions,
  ...kLayerArguments,
};

/** The values of the arguments of a recurrent layer. */
export type RecurrentValues = Values<typeof kRecurrentArguments>;

/** Options of all recurrent layers. */
export type RecurrentOptions = Omit<
  Options<typeof kRecurrentArguments & typeof kLayerArguments>,
  "inputSize" | "hiddenSize"
>;

/** The parameters of one layer in one direction. */
export interface CellWeights extends HiddenWeights {
  /** The projection of the output, for LSTM. */
  readonly projection: Tensor | null;
}

/** The properties in which kinds of layers differ. */
export interface CellShape {
  /** Gates per element of the state. */
  readonly gates: number;
  readonly projSize?: number;
}

// Two weights, however small: the engine needs some hundred bytes for each tensor.
const kLeastLayerBytes = 2 * 300;

/** The base of RNN, LSTM and GRU. */
export abstract class RecurrentBase extends Module {
  readonly inputSize: number;
  readonly hiddenSize: number;
  readonly projSize: number;
  readonly numLayers: number;
  readonly bias: boolean;
  readonly batchFirst: boolean;
  readonly dropout: number;
  readonly bidirectional: boolean;

  constructor({ gates, projSize = 0 }: CellShape, values: RecurrentValues) {
    super();
    this.inputSize = values.inputSize;
    this.hiddenSize = this.positive("hiddenSize", values.hiddenSize);
    this.projSize = projSize;
    this.numLayers = this.positive("numLayers", values.numLayers);
    this.bias = values.bias;
    this.batchFirst = values.batchFirst;
    this.bidirectional = values.bidirectional;
    this.dropout = values.dropout;
    if (!(this.dropout >= 0 && this.dropout <= 1)) {
      this.refuse(`dropout must be a probability, from 0 to 1, got ${this.dropout}.`);
    }
    if (this.dropout > 0 && this.numLayers === 1) {
      console.warn(
        `edgegrad: [${new.target.name}] dropout ${this.dropout} has no effect: it is applied between layers, and numLayers is 1.`,
      );
    }
    if (this.projSize < 0 || this.projSize >= this.hiddenSize) {
      this.refuse(
        `projSize must be from 0 to below hiddenSize ${this.hiddenSize}, got ${this.projSize}.`,
      );
    }
    this.checkRoom();
    this.addParameters(new.target.name, gates * this.hiddenSize, values);
    this.resetParameters();
  }

  /** Draws new weights and biases. */
  resetParameters(): void {
    const bound = 1 / Math.sqrt(this.hiddenSize);
    for (const parameter of this.parameters()) uniform_(parameter, -bound, bound);
  }

  override extraRepr(): string {
    const { projSize, numLayers, bias, batchFirst, dropout, bidirectional } = this;
    return formatArguments([this.inputSize, this.hiddenSize], {
      projSize: projSize || undefined,
      numLayers: numLayers === 1 ? undefined : numLayers,
      bias: bias ? undefined : false,
      batchFirst: batchFirst || undefined,
      dropout: dropout || undefined,
      bidirectional: bidirectional || undefined,
    });
  }

  /** Runs all layers from the given states, or from zeros; returns the outputs and the last states. */
  protected run(input: Sequence, given: readonly Tensor[] | null): [Sequence, Tensor[]] {
    return input instanceof PackedSequence
      ? this.runPacked(input, given)
      : this.runSteps(input, given);
  }

  private runSteps(input: Tensor, given: readonly Tensor[] | null): [Tensor, Tensor[]] {
    const isBatched = this.checkInput(input);
    const steps = isBatched ? this.swapBatch(input) : input.unsqueeze(1);
    const states = this.statesFor(steps, steps.shape[1] ?? 1, given, isBatched);
    const [outputs, last] = this.runLayers(steps, states, kEqualSteps);
    const withoutBatch = (value: Tensor) => ownView(value, (all) => all.squeeze(1));
    if (!isBatched) return [withoutBatch(outputs), last.map(withoutBatch)];
    return [ownView(outputs, (all) => this.swapBatch(all)), last];
  }

  private runPacked(
    { data, batchSizes, sortedIndices, unsortedIndices }: PackedSequence,
    given: readonly Tensor[] | null,
  ): [PackedSequence, Tensor[]] {
    this.checkFeatures(data);
    const sizes = numbersIn(batchSizes);
    const states = this.statesFor(data, sizes[0] ?? 0, given, true);
    const sorted = states.map((state) => rowsInOrder(state, given && sortedIndices));
    const [outputs, last] = this.runLayers(data, sorted, unequalSteps(sizes));
    const packed = new PackedSequence(outputs, batchSizes, sortedIndices, unsortedIndices);
    return [packed, last.map((state) => rowsInOrder(state, unsortedIndices))];
  }

  private runLayers(
    input: Tensor,
    initialStates: readonly Tensor[],
    steps: Steps,
  ): [Tensor, Tensor[]] {
    let value = input;
    const states = initialStates.map((state) => unbind(state, 0));
    const finals: Tensor[][] = states.map(() => []);
    for (let layer = 0; layer < this.numLayers; layer++) {
      if (layer > 0 && this.dropout > 0) value = dropout(value, this.dropout, this.training);
      const outputs = this.suffixes(layer).map((suffix, direction) => {
        const index = layer * this.directions + direction;
        const initial = states.map((state) => state[index] as Tensor);
        const [output, last] = this.runDirection(value, initial, suffix, direction === 1, steps);
        last.forEach((state, i) => {
          finals[i]?.push(state);
        });
        return output;
      });
      value = outputs.length === 1 ? (outputs[0] as Tensor) : cat(outputs, -1);
    }
    return [value, finals.map((each) => stack(each, 0))];
  }

  /** Returns the states after one step; the first is the output. */
  protected abstract cell(
    inputGates: Tensor,
    states: readonly Tensor[],
    weights: CellWeights,
  ): Tensor[];

  /** Returns the outputs and last states of all steps of equally long sequences of real numbers, or null to compute step by step. */
  protected abstract allSteps(
    inputGates: Tensor,
    initial: readonly Tensor[],
    weights: CellWeights,
    isReverse: boolean,
  ): [Tensor, readonly Tensor[]] | null;

  /** The sizes of the states that one sequence has. */
  protected stateSizes(): number[] {
    return [this.outputSize];
  }

  protected refuse(message: string): never {
    fail("InvalidArgument", this.constructor.name, message);
  }

  private runDirection(
    input: Tensor,
    initial: readonly Tensor[],
    suffix: string,
    isReverse: boolean,
    steps: Steps,
  ): [Tensor, readonly Tensor[]] {
    const weights: CellWeights = {
      hiddenWeight: this.parameter(`weight_hh${suffix}`) as Tensor,
      hiddenBias: this.parameter(`bias_hh${suffix}`),
      projection: this.parameter(`weight_hr${suffix}`),
    };
    const inputWeight = this.parameter(`weight_ih${suffix}`) as Tensor;
    const inputGates = linear(input, inputWeight, this.parameter(`bias_ih${suffix}`));
    if (steps === kEqualSteps && !inputGates.isComplex()) {
      const whole = this.allSteps(inputGates, initial, weights, isReverse);
      if (whole !== null) return whole;
    }
    const gates = steps.split(inputGates);
    const rows = new Rows(initial);
    const outputs = (isReverse ? gates.reverse() : gates).map((inputGates) => {
      rows.resize(inputGates.shape[0] ?? 0);
      rows.active = this.cell(inputGates, rows.active, weights);
      return rows.active[0] as Tensor;
    });
    return [steps.join(isReverse ? outputs.reverse() : outputs), rows.all()];
  }

  private addParameters(layerName: string, gateSize: number, kind: LayerKind): void {
    const add = (name: string, size: number[]) => {
      Object.assign(this, { [name]: parameterOf(layerName, empty, size, kind) });
    };
    for (let layer = 0; layer < this.numLayers; layer++) {
      const width = layer === 0 ? this.inputSize : this.outputSize * this.directions;
      for (const suffix of this.suffixes(layer)) {
        add(`weight_ih${suffix}`, [gateSize, width]);
        add(`weight_hh${suffix}`, [gateSize, this.outputSize]);
        if (this.bias) add(`bias_ih${suffix}`, [gateSize]);
        if (this.bias) add(`bias_hh${suffix}`, [gateSize]);
        if (this.projSize > 0) add(`weight_hr${suffix}`, [this.projSize, this.hiddenSize]);
      }
    }
  }

  // Read by name at each use, because users may replace the properties.
  private parameter(name: string): Tensor | null {
    const value: unknown = Reflect.get(this, name);
    return value instanceof Tensor ? value : null;
  }

  // Fails early if the layers cannot all fit into memory: making them one by one would take hours to fail.
  private checkRoom(): void {
    const least = this.numLayers * this.directions * kLeastLayerBytes;
    if (least <= 2 ** 32) return;
    fail(
      "OutOfMemory",
      this.constructor.name,
      `${this.numLayers} layers need at least ${least} bytes, more than can be addressed.`,
    );
  }

  private suffixes(layer: number): string[] {
    return this.bidirectional ? [`_l${layer}`, `_l${layer}_reverse`] : [`_l${layer}`];
  }

  private get directions(): number {
    return this.bidirectional ? 2 : 1;
  }

  private get outputSize(): number {
    return this.projSize > 0 ? this.projSize : this.hiddenSize;
  }

  private swapBatch(value: Tensor): Tensor {
    return this.batchFirst ? transpose(value, 0, 1) : value;
  }

  private statesFor(
    value: Tensor,
    batch: number,
    given: readonly Tensor[] | null,
    isBatched: boolean,
  ): Tensor[] {
    const count = this.numLayers * this.directions;
    const { dtype, device } = value;
    return this.stateSizes().map((size, i) => {
      if (given === null) return zeros([count, batch, size], { dtype, device });
      const expected = isBatched ? [count, batch, size] : [count, size];
      const name = this.constructor.name;
      const state = tensorRule.check(name, `hidden[${i}]`, given[i]);
      if (String(state.shape) !== String(expected)) {
        fail(
          "ShapeMismatch",
          name,
          `hidden[${i}]: expected the shape [${expected.join(", ")}], got [${state.shape.join(", ")}].`,
        );
      }
      return isBatched ? state : state.unsqueeze(1);
    });
  }

  // Returns whether the input is a batch.
  private checkInput(input: Tensor): boolean {
    const name = this.constructor.name;
    const { shape } = tensorRule.check(name, "input", input);
    if (shape.length !== 2 && shape.length !== 3) {
      fail("ShapeMismatch", name, `expected a 2D or 3D input, got ${shape.length}D.`);
    }
    this.checkFeatures(input);
    if (shape[this.batchFirst && shape.length === 3 ? 1 : 0] === 0) {
      fail("ShapeMismatch", name, "expected a sequence of one step or more, got none.");
    }
    return shape.length === 3;
  }

  private checkFeatures({ shape }: Tensor): void {
    const features = shape[shape.length - 1];
    if (features === this.inputSize) return;
    fail(
      "ShapeMismatch",
      this.constructor.name,
      `expected an input of ${this.inputSize} features (inputSize), got ${features}.`,
    );
  }

  private positive(name: string, value: number): number {
    if (value > 0) return value;
    this.refuse(`${name} must be above 0, got ${value}.`);
  }
}
