// Losses made from declarations.

import { type Options, oneOf, type Rules, type Values } from "../../arguments/rule.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type AnyClass, type Check, declared, type LayerClass, ordered, pick } from "../layer.js";
import type { Module } from "../module.js";

const kReduction = oneOf("none", "mean", "sum");

/** How the losses of the elements are combined. */
export type Reduction = typeof kReduction.type;

/** What all losses take. */
export const kLossArguments = {
  /** How the losses of the elements are combined; default "mean". */
  reduction: kReduction.or("mean"),
};

/** Options of all losses. */
export type LossOptions = Options<typeof kLossArguments>;

/** A loss between an input and a target. */
export interface Loss extends Module {
  forward(input: Tensor, target: Tensor): Tensor;
}

/** A declaration with the arguments that all losses take, unless it has them itself. */
export type LossRules<R extends Rules> = R & Omit<typeof kLossArguments, keyof R>;

/** The options of a loss with a declaration. */
export type LossOptionsOf<R extends Rules> = Options<LossRules<R>>;

/** The class of a loss. */
export interface LossClass<
  R extends Rules,
  Names extends readonly (keyof LossRules<R>)[],
  Base extends Module = Loss,
> extends LayerClass<LossRules<R>, Names, Base> {}

/** Returns the class of a loss that defines forward() itself. `names` is the order of the constructor's arguments. */
export function lossFields<
  R extends Rules,
  const Names extends readonly (keyof LossRules<R> & string)[],
>(rules: R, names: Names, check?: Check<LossRules<R>>): LossClass<R, Names, Module> {
  const all = ordered({ ...kLossArguments, ...rules }, names);
  return class extends declared<AnyClass, Rules>(all, check as Check<Rules>) {
    override extraRepr(): string {
      return "";
    }
  } as unknown as LossClass<R, Names, Module>;
}

/** Returns the class of a loss that calls `op` with an input, a target and its arguments by name. */
export function lossLayer<
  R extends Rules,
  const Names extends readonly (keyof LossRules<R> & string)[],
>(
  rules: R,
  names: Names,
  op: (input: Tensor, target: Tensor, options: Values<LossRules<R>>) => Tensor,
): LossClass<R, Names> {
  return class extends (lossFields(rules, names) as new (...given: unknown[]) => Module) {
    override forward(input: Tensor, target: Tensor): Tensor {
      return op(input, target, pick(this, names) as Values<LossRules<R>>);
    }
  } as unknown as LossClass<R, Names>;
}
