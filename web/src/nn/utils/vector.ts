// The parameters of a model as one vector.

import { readArguments } from "../../arguments/read.js";
import { Rule } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { cat, copy_, narrow, reshape, viewAs } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { listOf } from "./iterables.js";

const kTensors = new Rule<Iterable<Tensor>>("a list of tensors", (value) => {
  return Array.isArray(value) && value.length > 0 && value.every(tensorRule.accepts);
});

/** Joins all parameters into one vector; gradients flow back through it. */
export function parametersToVector(parameters: Iterable<Tensor>, ...rest: []): Tensor {
  const given = [listOf(parameters), ...rest];
  const own = readArguments("parametersToVector", { parameters: kTensors }, given);
  return scope(() => cat([...own.parameters].map((parameter) => reshape(parameter, [-1]))));
}

/** Copies the parts of a vector, in the order of parametersToVector(), into the parameters. */
export function vectorToParameters(vec: Tensor, parameters: Iterable<Tensor>, ...rest: []): void {
  const rules = { vec: tensorRule, parameters: kTensors };
  const own = readArguments("vectorToParameters", rules, [vec, listOf(parameters), ...rest]);
  const all = [...own.parameters];
  const total = all.reduce((sum, { numel }) => sum + numel, 0);
  if (own.vec.ndim !== 1 || own.vec.numel !== total) {
    const message = `expected a vector of ${total} elements, got shape [${own.vec.shape.join(", ")}].`;
    fail("ShapeMismatch", "vectorToParameters", message);
  }
  scope(() =>
    noGrad(() => {
      let start = 0;
      for (const parameter of all) {
        copy_(parameter, viewAs(narrow(own.vec, 0, start, parameter.numel), parameter));
        start += parameter.numel;
      }
    }),
  );
}
