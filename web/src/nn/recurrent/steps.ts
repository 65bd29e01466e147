// One step of each kind of recurrent layer: computes the next states from the input's part of the gates and the states.

import { add, chunk, linear, mul, relu, sigmoid, sub, tanh } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/** The activation function of an RNN. */
export type Nonlinearity = "tanh" | "relu";

/** The parameters that map the last states to the gates. */
export interface HiddenWeights {
  readonly hiddenWeight: Tensor;
  readonly hiddenBias: Tensor | null;
}

/** h' = tanh(gates + W_hh h + b_hh). */
export function rnnStep(
  inputGates: Tensor,
  hidden: Tensor,
  { hiddenWeight, hiddenBias }: HiddenWeights,
  nonlinearity: Nonlinearity,
): Tensor {
  return rnnCell(inputGates, linear(hidden, hiddenWeight, hiddenBias), nonlinearity);
}

/** The part of the step after the matrix products. */
export function rnnCell(
  inputGates: Tensor,
  hiddenGates: Tensor,
  nonlinearity: Nonlinearity,
): Tensor {
  const sum = add(inputGates, hiddenGates);
  return nonlinearity === "tanh" ? tanh(sum) : relu(sum);
}

/** Returns the next output and cell state of long short-term memory. */
export function lstmStep(
  inputGates: Tensor,
  hidden: Tensor,
  state: Tensor,
  { hiddenWeight, hiddenBias }: HiddenWeights,
): [hidden: Tensor, state: Tensor] {
  return lstmCell(inputGates, linear(hidden, hiddenWeight, hiddenBias), state);
}

/** The part of the step after the matrix products. */
export function lstmCell(
  inputGates: Tensor,
  hiddenGates: Tensor,
  state: Tensor,
): [hidden: Tensor, state: Tensor] {
  const gates = chunk(add(inputGates, hiddenGates), 4, -1);
  const [input, forget, candidate, output] = gates as Gates4;
  const next = add(mul(sigmoid(forget), state), mul(sigmoid(input), tanh(candidate)));
  return [mul(sigmoid(output), tanh(next)), next];
}

/** Returns the next state of gated recurrent units. */
export function gruStep(
  inputGates: Tensor,
  hidden: Tensor,
  { hiddenWeight, hiddenBias }: HiddenWeights,
): Tensor {
  return gruCell(inputGates, linear(hidden, hiddenWeight, hiddenBias), hidden);
}

/** The part of the step after the matrix products. */
export function gruCell(inputGates: Tensor, hiddenGates: Tensor, hidden: Tensor): Tensor {
  const fromHidden = chunk(hiddenGates, 3, -1) as Gates3;
  const [reset, update, candidate] = chunk(inputGates, 3, -1) as Gates3;
  const forget = sigmoid(add(reset, fromHidden[0]));
  const keep = sigmoid(add(update, fromHidden[1]));
  const next = tanh(add(candidate, mul(forget, fromHidden[2])));
  return add(mul(sub(hidden, next), keep), next);
}

type Gates3 = [Tensor, Tensor, Tensor];
type Gates4 = [Tensor, Tensor, Tensor, Tensor];
