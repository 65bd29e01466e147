import { type Arguments, readArguments } from "../../arguments/read.js";
import { Rule, text } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { Parameter, parameterFrom } from "../parameter.js";
import { defineComputed, takeMember } from "./computed.js";
import { kWeightNormArguments, type WeightNormOptions } from "./norm_options.js";
import { normExcept, scaledTo } from "./weights.js";

/**
 * Learns the norms of a weight ("weight_g") and its direction ("weight_v") separately. New programs should use
 * nn.utils.parametrizations.weightNorm.
 */
export function weightNorm<M extends Module>(
  module: M,
  ...rest: Arguments<[name: string, dim: number | null], WeightNormOptions>
): M {
  const { name, dim } = readArguments("weightNorm", kWeightNormArguments, [module, ...rest]);
  const weight = takeMember("weightNorm", module, name);
  Object.assign(module, {
    [`${name}_g`]: parameterFrom(noGrad(() => normExcept(weight, dim))),
    [`${name}_v`]: weight instanceof Parameter ? weight : new Parameter(weight),
  });
  defineComputed(module, name, function () {
    return scaledTo(Reflect.get(this, `${name}_v`), Reflect.get(this, `${name}_g`), dim);
  });
  return module;
}

const kRemoveArguments = {
  module: new Rule<Module>("a module", (value) => value instanceof Module),
  /** The name of the parameter; default "weight". */
  name: text.or("weight"),
};

/** Removes the effect of weightNorm(): the computed weight becomes a parameter. */
export function removeWeightNorm<M extends Module>(module: M, ...rest: [name?: string]): M {
  const where = "removeWeightNorm";
  const { name } = readArguments(where, kRemoveArguments, [module, ...rest]);
  if (
    Object.getOwnPropertyDescriptor(module, name)?.get === undefined ||
    !Object.hasOwn(module, `${name}_g`)
  ) {
    fail("InvalidArgument", where, `${module.constructor.name} has no weightNorm of "${name}".`);
  }
  const weight = parameterFrom(noGrad(() => Reflect.get(module, name) as Tensor));
  for (const old of [name, `${name}_g`, `${name}_v`]) Reflect.deleteProperty(module, old);
  // Makes the module notice that they are gone, so that their names may be used for other members.
  module.children();
  return Object.assign(module, { [name]: weight });
}
