// Random integers between ends of 64 bits, and in the shape of a tensor.

import type { GeneratorOption } from "../arguments/generator.js";
import { isPlainObject, readArguments } from "../arguments/read.js";
import { unchecked } from "../arguments/rule.js";
import { named } from "../dispatch/define.js";
import { drawing } from "../dispatch/drawing.js";
import type { Ints } from "../dispatch/types.js";
import { empty, emptyLike, randint as randintOfEngine, random_ } from "../generated/ops.js";
import type { TensorOptions } from "../ops/create.js";
import { calledAs } from "../runtime/errors.js";
import { type Device, type DType, dtypeRule } from "../tensor/dtype.js";
import { kFactoryOptions, withFactoryOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";
import { compositeFactory } from "./composite.js";

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
export const randint: Randint = /* @__PURE__ */ drawing(
  /* @__PURE__ */ named("randint", (...given: readonly unknown[]): Tensor => {
    const last = given[given.length - 1];
    const options = isPlainObject(last) ? last : {};
    if (![...given, options.low, options.high].some(isWide)) {
      return (randintOfEngine as (...given: readonly unknown[]) => Tensor)(...given);
    }
    const own = readArguments("randint", kRandintArguments, given);
    const { dtype, device, requiresGrad } = own;
    const [low, high, size] =
      own.size === null ? [0, own.low, own.high as Ints] : [own.low, own.high as End, own.size];
    return calledAs("randint", () => {
      const drawn = random_(empty(size, { dtype: dtype ?? "int64", device }), low, high);
      return withFactoryOptions(drawn, { device, requiresGrad });
    });
  }),
) as never;

// True for a whole number that float64, in which the engine takes counts, may not represent.
function isWide(value: unknown): boolean {
  return (
    (typeof value === "bigint" || Number.isInteger(value)) && !Number.isSafeInteger(Number(value))
  );
}

/** Random integers in [low, high) in the shape of `input`, by default of its dtype; randintLike(input, high) begins at 0. */
export const randintLike: {
  (input: Tensor, high: End, options?: DrawOptions): Tensor;
  (input: Tensor, low: End, high: End, options?: DrawOptions): Tensor;
  (input: Tensor, options: { low?: End; high: End } & DrawOptions): Tensor;
} = /* @__PURE__ */ drawing(
  /* @__PURE__ */ compositeFactory(
    "randintLike",
    "input:tensor low:scalar=0 high:scalar?=null dtype:dtype?=null",
    (input: Tensor, low: End, high: End | null, dtype: DType | null, device?: Device) => {
      const drawn = emptyLike(input, { dtype: dtype ?? input.dtype, device });
      return high === null ? random_(drawn, 0, low) : random_(drawn, low, high);
    },
  ),
);
