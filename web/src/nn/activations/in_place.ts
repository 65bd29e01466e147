// Activations whose result may take the place of their input.

import { boolean, type InOrder, type Options, type Rules } from "../../arguments/rule.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  type AnyClass,
  type Check,
  declared,
  type Layer,
  type LayerClass,
  ordered,
  valuesOf,
} from "../layer.js";
import { formatFloat, snakeCase } from "../module_text.js";

/** The last argument of the activations that can write into their input. */
export const kInPlaceArguments = {
  /** Write the result into the input; default false. */
  inplace: boolean.or(false),
};

type InPlaceRules = typeof kInPlaceArguments;

/** Options of the activations that take nothing but `inplace`. */
export type InPlaceOptions = Options<InPlaceRules>;

/** The arguments of the activations that take nothing but `inplace`. */
export type InPlaceArguments = [options?: InPlaceOptions] | [inplace?: boolean | undefined];

/** An activation that can write into its input. */
export interface InPlaceLayer extends Layer {
  // Documented as an argument, whose properties these layers have.
  readonly inplace: boolean;
}

/** The class of an activation that takes arguments and `inplace`. */
export interface ActivationClass<R extends Rules, Names extends readonly (keyof R)[]>
  extends LayerClass<R & InPlaceRules, readonly [...Names, inplace: "inplace"], InPlaceLayer> {}

/** The class of an activation that takes nothing but `inplace`. */
export interface PlainActivationClass {
  new (inplace?: boolean): InPlaceLayer;
  new (options?: InPlaceOptions): InPlaceLayer;
}

/** An op with numbers after its input. */
type ActivationOp<R extends Rules, Names extends readonly (keyof R)[]> = (
  input: Tensor,
  ...values: InOrder<R, Names>
) => Tensor;

/**
 * Returns the class of an activation with numbers, all of which its text shows as floats, and `inplace` after them:
 * `op_` is the form of `op` that writes into the input.
 */
export function activation<R extends Rules, const Names extends readonly (keyof R & string)[]>(
  rules: R,
  names: Names,
  op: ActivationOp<R, Names>,
  op_: ActivationOp<R, Names>,
  check?: Check<R>,
): ActivationClass<R, Names> {
  const all = ordered({ ...rules, ...kInPlaceArguments }, [...names, "inplace"]);
  return class extends declared<AnyClass, Rules>(all, check as Check<Rules>) {
    declare readonly inplace: boolean;

    override forward(input: Tensor): Tensor {
      const values = valuesOf(this, names) as InOrder<R, Names>;
      return this.inplace ? op_(input, ...values) : op(input, ...values);
    }

    override extraRepr(): string {
      const values = valuesOf(this, names) as number[];
      const texts = values.map((value, i) => `${snakeCase(names[i] ?? "")}=${formatFloat(value)}`);
      return [...texts, ...(this.inplace ? ["inplace=True"] : [])].join(", ");
    }
  } as unknown as ActivationClass<R, Names>;
}

/** Returns the class of an activation that takes nothing but `inplace`. */
export function plainActivation(
  op: (input: Tensor) => Tensor,
  op_: (input: Tensor) => Tensor,
): PlainActivationClass {
  return activation({}, [], op, op_) as PlainActivationClass;
}
