import { readArguments } from "../../arguments/read.js";
import { boolean, type Options } from "../../arguments/rule.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";

/** The last argument of the activations that can write into their input. */
export const kInPlaceArguments = {
  /** Write the result into the input; default false. */
  inplace: boolean.or(false),
};

/** Options of the activations that take nothing but `inplace`. */
export type InPlaceOptions = Options<typeof kInPlaceArguments>;

/** The arguments of the activations that take nothing but `inplace`. */
export type InPlaceArguments = [inplace?: boolean | InPlaceOptions];

/** A function of each element, whose result may take the place of the input. */
export abstract class InPlaceActivation extends Module {
  readonly inplace: boolean;

  constructor(inplace: boolean) {
    super();
    this.inplace = inplace;
  }

  override forward(input: Tensor): Tensor {
    return this.inplace ? this.compute_(input) : this.compute(input);
  }

  protected abstract compute(input: Tensor): Tensor;

  protected abstract compute_(input: Tensor): Tensor;

  override extraRepr(): string {
    return [...this.ownRepr(), ...(this.inplace ? ["inplace=True"] : [])].join(", ");
  }

  /** What stands before `inplace` in the text of the module. */
  protected ownRepr(): string[] {
    return [];
  }
}

/** An activation that takes nothing but `inplace`. */
export abstract class PlainActivation extends InPlaceActivation {
  constructor(...given: InPlaceArguments) {
    super(readArguments(new.target.name, kInPlaceArguments, given).inplace);
  }
}
