// Schedulers made from the declaration of their arguments. The constructor, its forms by position and by name, and for scheduler() the
// fields follow from it:
//
//   /** Multiplies the rate by `gamma` every `stepSize` epochs. */
//   export class StepLR extends scheduler(
//     kStepLR,
//     {} as Order<[stepSize: "stepSize"], [gamma: "gamma"]>,
//   ) { ... }
//
// The order of the arguments, required ones first, is a type, because TypeScript cannot read it off an object. Its labels are what editors show.

import { type MixedArguments, type Positions, readArguments } from "../../arguments/read.js";
import {
  type InOrder,
  type Options,
  type Rules,
  unchecked,
  type Values,
} from "../../arguments/rule.js";
import type { BaseScheduler, ScheduledOptimizer } from "./base.js";
import { kSchedulerOptions, LRScheduler } from "./scheduler.js";

/** The names of the arguments that must be given, and of the options, in their order. */
export interface Order<Needed, Spare> {
  readonly needed?: Needed;
  readonly spare?: Spare;
}

type Names<R> = readonly (keyof R)[];

// Written out rather than Options<R>, which editors would show with its rules.
type Named<R extends Rules, Name extends keyof R> = { [One in Name]?: Values<R>[One] };

/** The class that a declaration gives. Its forms are overloads, because editors show the parameters of an overload. */
export interface SchedulerClass<
  R extends Rules,
  Needed extends Names<R>,
  Spare extends Names<R>,
  Made,
> {
  new (
    ...given: [
      optimizer: ScheduledOptimizer,
      ...InOrder<R, Needed>,
      ...Positions<InOrder<R, Spare>>,
    ]
  ): Made;
  new (
    ...given: [
      optimizer: ScheduledOptimizer,
      ...InOrder<R, Needed>,
      ...MixedArguments<InOrder<R, Spare>, Named<R, Spare[number]>>,
    ]
  ): Made;
  new (
    ...given: [
      optimizer: ScheduledOptimizer,
      ...InOrder<R, Needed>,
      options?: Named<R, Spare[number]>,
    ]
  ): Made;
  // Last, because TypeScript compares a call that fits no form with this one: it names the option that was meant.
  new (
    optimizer: ScheduledOptimizer,
    options: Pick<Values<R>, Needed[number]> & Named<R, Spare[number]>,
  ): Made;
}

/** Returns a class that extends `Base`: its constructor reads its arguments, and setUp() receives them. */
export function declared<
  Made extends BaseScheduler,
  R extends Rules,
  Needed extends Names<R>,
  Spare extends Names<R>,
>(
  Base: abstract new (optimizer: ScheduledOptimizer) => Made,
  rules: R,
  _order: Order<Needed, Spare>,
): SchedulerClass<R, Needed, Spare, Made> {
  const all: Rules = { optimizer: unchecked(), ...rules };
  abstract class Declared extends (Base as typeof BaseScheduler) {
    constructor(optimizer: ScheduledOptimizer, ...given: unknown[]) {
      super(optimizer);
      const { optimizer: _, ...values } = readArguments(new.target.name, all, [
        optimizer,
        ...given,
      ]);
      this.setUp(values);
    }
  }
  return Declared as never;
}

type WithEpoch<R> = R & typeof kSchedulerOptions;

/** Like SchedulerClass, with what all schedulers take. */
export interface LRSchedulerClass<
  R extends Rules,
  Needed extends Names<R>,
  Spare extends Names<R>,
  Made,
> extends SchedulerClass<WithEpoch<R>, Needed, [...Spare, lastEpoch: "lastEpoch"], Made> {}

/** The options of a scheduler: its optional arguments. */
export type OptionsOf<R extends Rules, Needed = never> = Options<
  Omit<R, Needed & keyof R> & typeof kSchedulerOptions
>;

/** The values that setUp() of a scheduler receives. */
export type Arguments<R extends Rules> = Values<WithEpoch<R>>;

/** Returns the class of a scheduler whose fields are its arguments; its constructor makes the first step. */
export function scheduler<R extends Rules, Needed extends Names<R>, Spare extends Names<R>>(
  rules: R,
  order: Order<Needed, Spare>,
): LRSchedulerClass<R, Needed, Spare, LRScheduler & Values<R>> {
  return ownScheduler(rules, order) as never;
}

/** Like scheduler(), for a class that sets its fields itself, in setUp(). */
export function ownScheduler<R extends Rules, Needed extends Names<R>, Spare extends Names<R>>(
  rules: R,
  order: Order<Needed, Spare>,
): LRSchedulerClass<R, Needed, Spare, LRScheduler> {
  return declared(LRScheduler, { ...rules, ...kSchedulerOptions }, order) as never;
}
