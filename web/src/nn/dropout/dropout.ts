import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, number, type Options } from "../../arguments/rule.js";
import { copy_, dropout } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

const kArguments = {
  /** The probability of an element to become zero; default 0.5. */
  p: number.or(0.5),
  /** Write the result into the input; default false. */
  inplace: boolean.or(false),
};

/** Options of all layers of dropout. */
export type DropoutOptions = Options<typeof kArguments>;

/** The arguments of all layers of dropout. */
export type DropoutArguments = Arguments<[p: number, inplace: boolean], DropoutOptions>;

/** What the layers of dropout share. */
export abstract class DropoutLayer extends Module {
  readonly p: number;
  readonly inplace: boolean;

  constructor(...given: DropoutArguments) {
    super();
    const { p, inplace } = readArguments(new.target.name, kArguments, given);
    if (!(p >= 0 && p <= 1)) {
      const told = `dropout probability has to be between 0 and 1, but got ${p}.`;
      fail("InvalidArgument", new.target.name, told);
    }
    this.p = p;
    this.inplace = inplace;
  }

  override forward(input: Tensor): Tensor {
    const result = this.drop(input);
    return this.inplace ? copy_(input, result) : result;
  }

  protected abstract drop(input: Tensor): Tensor;

  override extraRepr(): string {
    return formatArguments([], { p: this.p, inplace: this.inplace });
  }
}

/** In training, sets random elements to zero and scales the others up. */
export class Dropout extends DropoutLayer {
  protected override drop(input: Tensor): Tensor {
    return dropout(input, this.p, this.training);
  }
}
