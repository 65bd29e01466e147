// The rules for the steps of recurrent layers. Samples that share the weights are computed as one batch; with different weights,
// all samples take each step together.

import {
  add,
  bmm,
  movedim,
  reshape,
  stack,
  transpose,
  unbind,
  unsqueeze,
} from "../../generated/ops.js";
import { gruCell, lstmCell, type Nonlinearity, rnnCell } from "../../nn/recurrent/steps.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Call, Rule } from "./call.js";
import { fold } from "./folded.js";

/** Returns the next states from both parts of the gates. */
type Cell = (inputGates: Tensor, hiddenGates: Tensor, states: readonly Tensor[]) => Tensor[];

/** The rule of lstmSteps(). */
export const lstmStepsOf: Rule = (call) =>
  stepsOf(call, ["hidden", "state"], (inputGates, hiddenGates, [, state]) =>
    lstmCell(inputGates, hiddenGates, state as Tensor),
  );

/** The rule of gruSteps(). */
export const gruStepsOf: Rule = (call) =>
  stepsOf(call, ["hidden"], (inputGates, hiddenGates, [hidden]) => [
    gruCell(inputGates, hiddenGates, hidden as Tensor),
  ]);

/** The rule of rnnSteps(). */
export const rnnStepsOf: Rule = (call) =>
  stepsOf(call, ["hidden"], (inputGates, hiddenGates) => [
    rnnCell(inputGates, hiddenGates, call.value<Nonlinearity>("nonlinearity")),
  ]);

// `names` are the arguments for the states, the hidden state first.
function stepsOf(call: Call, names: readonly string[], cell: Cell): Tensor[] {
  return call.isBatched("weight") || call.isBatched("bias")
    ? stepByStep(call, names, cell)
    : together(call, names);
}

function together(call: Call, names: readonly string[]): Tensor[] {
  const gates = movedim(call.batch("inputGates"), 0, 1);
  const [steps, samples, rows] = gates.shape as [number, number, number];
  const states = names.map((name) => [name, fold(call.batch(name))]);
  const [output, ...last] = call.run({
    inputGates: reshape(gates, [steps, samples * rows, -1]),
    ...Object.fromEntries(states),
  }) as [Tensor, ...Tensor[]];
  const outputs = movedim(reshape(output, [steps, samples, rows, -1]), 1, 0);
  return [outputs, ...last.map((state) => reshape(state, [samples, rows, -1]))];
}

function stepByStep(call: Call, names: readonly string[], cell: Cell): Tensor[] {
  const weight = transpose(call.batch("weight"), 1, 2);
  const bias = call.operand("bias") === null ? null : unsqueeze(call.batch("bias"), 1);
  const isReverse = call.value("reverse") === true;
  let states = names.map((name) => call.batch(name));
  const steps = unbind(call.batch("inputGates"), 1);
  const outputs = (isReverse ? steps.reverse() : steps).map((inputGates) => {
    const product = bmm(states[0] as Tensor, weight);
    states = cell(inputGates, bias === null ? product : add(product, bias), states);
    return states[0] as Tensor;
  });
  return [stack(isReverse ? outputs.reverse() : outputs, 1), ...states];
}
