// Losses of differences: an input of shape [4, 1] and a target of shape [4] are broadcast to 16 differences where 4 were meant.

import { isDue } from "../runtime/errors/once.js";
import { commonShape, hasShape } from "../tensor/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { isOptions } from "./call.js";
import { type AnyFunction, named } from "./define.js";

/** Makes the function of a loss warn, once, when input and target have different shapes. */
export function sameSized<F extends AnyFunction>(run: F): F {
  const { name } = run;
  const call = run as unknown as (...args: readonly unknown[]) => unknown;
  const once = { done: false };
  const compared = (...args: readonly unknown[]) => {
    const result = call(...args);
    const [input, second] = args;
    const target = isOptions(second) ? second.target : second;
    if (!(input instanceof Tensor) || !(target instanceof Tensor)) return result;
    const [a, b] = [input.shape, target.shape];
    const common = commonShape(a, b);
    if (common === null || hasShape(a, b) || !isDue(once)) return result;
    console.warn(
      `edgegrad: [${name}] input has shape [${a.join(", ")}] and target [${b.join(", ")}]: they are broadcast to ` +
        `[${common.join(", ")}], which is rarely what is meant. Give both one shape, as with target.reshape(input.shape).`,
    );
    return result;
  };
  return named(name, compared) as F;
}
