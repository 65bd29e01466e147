// Distributions that are parameterized by probabilities or logits.

import { type Forms, readArguments } from "../../arguments/read.js";
import type { Options, Rules } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  type DistributionOptions,
  kDistributionOptions,
  type Parameter,
  parameter,
} from "./arguments.js";
import { type Constraints, type DistributionClass, withFormulas } from "./declaration.js";
import { Distribution, type DistributionParts, type Formulas } from "./distribution.js";

const kOwnOptions = {
  /** Probabilities; this or `logits`. */
  probs: parameter.orNull(),
  /** Log odds or, for several classes, unnormalized log probabilities; this or `probs`. */
  logits: parameter.orNull(),
};

export const kProbabilityOptions = { ...kOwnOptions, ...kDistributionOptions };

/** Options of distributions that take probabilities or logits. */
export interface ProbabilityOptions extends DistributionOptions, Options<typeof kOwnOptions> {}

/** The arguments of distributions that take probabilities or logits, by position. */
export type PositionalProbabilities = [
  probs: Parameter | null,
  logits: Parameter | null,
  validateArgs: boolean | null,
];

/** The arguments of distributions that take probabilities or logits. */
export type Probabilities = Forms<PositionalProbabilities, ProbabilityOptions>;

/** These arguments after they have been read. */
export interface ReadProbabilities {
  readonly probs: Parameter | null;
  readonly logits: Parameter | null;
  readonly validateArgs: boolean | null;
}

/** Probabilities or logits, as they were given. */
export type GivenProbabilities = {
  readonly probs?: Tensor | undefined;
  readonly logits?: Tensor | undefined;
};

/** A distribution that is parameterized by probabilities or logits. */
export abstract class ProbabilityDistribution<
  P extends GivenProbabilities = GivenProbabilities,
> extends Distribution<P> {
  /** Takes the parts of a distribution: parameters, shapes and whether to validate. */
  constructor(parts: DistributionParts<P>) {
    super(parts);
  }

  /** The shape of the parameter that was given. */
  get paramShape(): readonly number[] {
    return this.given.shape;
  }

  /** The tensor that was given: probabilities or logits. @internal */
  get given(): Tensor {
    return givenOf(this.parameters);
  }
}

/** The declaration of a class that takes probabilities or logits. */
export interface ProbabilityDeclaration<Self> extends Formulas<Self> {
  /** The rules of the constructor's arguments; default only probabilities or logits. */
  arguments?: Rules;
  /** Parameters besides the probabilities. */
  parameters?: Constraints;
  /** Returns the fields made from other arguments; `given` is the tensor of probabilities or logits. */
  fields?: (call: never, given: Tensor) => object;
}

/** Returns the base class of a declared class that takes probabilities or logits; `read` returns the parts for `Base`. */
export function withProbabilities(
  Base: DistributionClass<ProbabilityDistribution>,
  read: (where: string, call: ReadProbabilities) => DistributionParts<GivenProbabilities>,
  declaration: ProbabilityDeclaration<never>,
): DistributionClass<ProbabilityDistribution> {
  const { fields } = declaration;
  const rules: Rules = declaration.arguments ?? kProbabilityOptions;
  abstract class WithProbabilities extends Base {
    constructor(...given: unknown[]) {
      const { name } = new.target;
      const call = readArguments(name, rules, given) as unknown as ReadProbabilities;
      super(read(name, call));
      Object.assign(this, fields?.(call as never, this.given));
    }
  }
  return withFormulas({ ...declaration, base: WithProbabilities });
}

/** Returns probs or logits as a tensor, whichever was given; throws InvalidArgument unless exactly one was. */
export function readProbabilities(
  where: string,
  { probs, logits }: Pick<ReadProbabilities, "probs" | "logits">,
): GivenProbabilities {
  const given = probs ?? logits;
  if (given === null || (probs !== null && logits !== null)) {
    const got = given === null ? "neither" : "both";
    return fail("InvalidArgument", where, `expected either \`probs\` or \`logits\`, got ${got}.`);
  }
  const [value] = broadcastAll(where, given);
  return probs !== null ? { probs: value } : { logits: value };
}

/** Returns probs or logits, whichever was given. */
export function givenOf({ probs, logits }: GivenProbabilities): Tensor {
  return (probs ?? logits) as Tensor;
}
