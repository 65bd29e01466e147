// Random integers between ends of 64 bits.

import type { GeneratorOption } from "../arguments/generator.js";
import { areOptions, readArguments } from "../arguments/read.js";
import { unchecked } from "../arguments/rule.js";
import { named } from "../dispatch/define.js";
import type { Ints } from "../dispatch/types.js";
import { withGenerator } from "../dispatch/with_generator.js";
import { empty, randint as randintOfEngine, random_ } from "../generated/ops.js";
import { calledAs } from "../runtime/errors/errors.js";
import { dtypeRule } from "../tensor/dtype.js";
import {
  kFactoryOptions,
  type TensorOptions,
  withFactoryOptions,
} from "../tensor/factory_options.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";

type End = number | bigint;
type DrawOptions = TensorOptions & GeneratorOption;

const kRandintArguments = {
  low: unchecked<End>(),
  high: unchecked<End | Ints>(),
  size: unchecked<Ints | null>().or(null),
  dtype: dtypeRule.orNull(),
  ...kFactoryOptions,
};

type Randint = {
  (low: End, high: End | Ints, size?: Ints | null, options?: DrawOptions): Tensor;
  (low: End, high: End | Ints, options: { size?: Ints | null } & DrawOptions): Tensor;
};

/** Random integers in [low, high); randint(high, size) begins at 0. A bigint gives an end of up to 64 bits. */
export const randint: Randint = /* @__PURE__ */ withGenerator(
  /* @__PURE__ */ named("randint", (...given: readonly unknown[]): Tensor => {
    const last = given[given.length - 1];
    const options = areOptions(last) ? last : {};
    if (![...given, options.low, options.high].some(isWide)) {
      return (randintOfEngine as (...given: readonly unknown[]) => Tensor)(...given);
    }
    const own = readArguments("randint", kRandintArguments, given);
    const { dtype, device, requiresGrad } = own;
    const [low, high, size] =
      own.size === null ? [0, own.low, own.high as Ints] : [own.low, own.high as End, own.size];
    return calledAs("randint", () =>
      scope(() => {
        const drawn = random_(empty(size, { dtype: dtype ?? "int64", device }), low, high);
        return withFactoryOptions(drawn, { device, requiresGrad });
      }),
    );
  }),
) as never;

// True for a whole number that float64, in which the engine takes counts, may not represent.
function isWide(value: unknown): boolean {
  return (
    (typeof value === "bigint" || Number.isInteger(value)) && !Number.isSafeInteger(Number(value))
  );
}
