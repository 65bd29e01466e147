// The rule for the steps of a recurrent layer. Samples that share the weights are computed as one batch; with different weights,
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
import { lstmCell } from "../../nn/recurrent/steps.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Call, Rule } from "./call.js";
import { fold } from "./folded.js";

/** The rule of lstmSteps(). */
export const lstmStepsOf: Rule = (call) =>
  call.isBatched("weight") || call.isBatched("bias") ? stepByStep(call) : together(call);

function together(call: Call): Tensor[] {
  const gates = movedim(call.batch("inputGates"), 0, 1);
  const [steps, samples, rows] = gates.shape as [number, number, number];
  const [output, ...last] = call.run({
    inputGates: reshape(gates, [steps, samples * rows, -1]),
    hidden: fold(call.batch("hidden")),
    state: fold(call.batch("state")),
  }) as [Tensor, Tensor, Tensor];
  const outputs = movedim(reshape(output, [steps, samples, rows, -1]), 1, 0);
  return [outputs, ...last.map((state) => reshape(state, [samples, rows, -1]))];
}

function stepByStep(call: Call): Tensor[] {
  const weight = transpose(call.batch("weight"), 1, 2);
  const bias = call.operand("bias") === null ? null : unsqueeze(call.batch("bias"), 1);
  const isReverse = call.value("reverse") === true;
  let [hidden, state] = [call.batch("hidden"), call.batch("state")];
  const steps = unbind(call.batch("inputGates"), 1);
  const outputs = (isReverse ? steps.reverse() : steps).map((inputGates) => {
    const product = bmm(hidden, weight);
    const share = bias === null ? product : add(product, bias);
    [hidden, state] = lstmCell(add(inputGates, share), state);
    return hidden;
  });
  return [stack(isReverse ? outputs.reverse() : outputs, 1), hidden, state];
}
