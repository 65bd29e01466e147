import { type Arguments, readArguments } from "../../arguments/read.js";
import { number, type Options } from "../../arguments/rule.js";
import { copy_, rrelu } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { formatFloat } from "../module_text.js";
import { InPlaceActivation, kInPlaceArguments } from "./in_place.js";

const kArguments = {
  /** The least factor of negative elements; default 1/8. */
  lower: number.or(1 / 8),
  /** The largest one; default 1/3. */
  upper: number.or(1 / 3),
  ...kInPlaceArguments,
};

/** Options of `RReLU`. */
export type RReLUOptions = Options<typeof kArguments>;

/** x, times a random factor where it is negative; in evaluation the factor is the mean of both bounds. */
export class RReLU extends InPlaceActivation {
  readonly lower: number;
  readonly upper: number;

  constructor(...given: Arguments<[lower: number, upper: number, inplace: boolean], RReLUOptions>) {
    const { lower, upper, inplace } = readArguments(new.target.name, kArguments, given);
    super(inplace);
    if (lower > upper) {
      const told = `lower has to be at most upper, got ${lower} and ${upper}.`;
      fail("InvalidArgument", new.target.name, told);
    }
    this.lower = lower;
    this.upper = upper;
  }

  protected override compute(input: Tensor): Tensor {
    return rrelu(input, this.lower, this.upper, this.training);
  }

  protected override compute_(input: Tensor): Tensor {
    return copy_(input, this.compute(input));
  }

  protected override ownRepr(): string[] {
    return [`lower=${formatFloat(this.lower)}`, `upper=${formatFloat(this.upper)}`];
  }
}
