// Calls of step kernels: options that are equal in consecutive calls are decoded once, and the memory of repeated calls comes
// from a cache.

import type { Block } from "../blocks";
import { areEqual, type CacheEntry, CommandCache } from "../command_cache";
import type { Fields, Reader } from "../stream";
import { JoinedSteps, type Joiner } from "./joined_steps";
import type { StepKernel, StepOptions } from "./step_kernel";
import { makeStep, type Step } from "./step_shader";

/** A step kernel, whatever its struct. */
export type AnyStepKernel = StepKernel<never>;

/** The fields of a step kernel's struct. */
export interface StepFields extends Fields {
  readonly options: Fields;
}

interface CachedStep extends CacheEntry {
  readonly step: Step;
}

interface Calls {
  /** The options of the last call, and their words. */
  options: StepOptions;
  words: Uint32Array;
  readonly steps: CommandCache<CachedStep>;
}

export class StepCalls {
  readonly #joined: JoinedSteps;
  readonly #block: (number: number) => Block;
  readonly #callsOf = new Map<AnyStepKernel, Calls>();

  /** `block` returns the block of a number. */
  constructor(joiner: Joiner, block: (number: number) => Block) {
    this.#joined = new JoinedSteps(joiner);
    this.#block = block;
  }

  /** Forgets which steps shared a dispatch, because their memory is elsewhere now. */
  forgetPlans(): void {
    this.#joined.forgetPlans();
  }

  /** Records all steps so far. */
  finish(): void {
    this.#joined.finish();
  }

  /** Plays a call whose fields come next; `references` returns the blocks that have been read so far. */
  play(
    kernel: AnyStepKernel,
    { options, ...memory }: StepFields,
    reader: Reader,
    op: string,
    references: () => CacheEntry["blocks"],
  ): void {
    const calls = this.#readOptions(kernel, options, reader);
    this.#joined.begin(calls.options, op);
    const words = reader.rest();
    let step = calls.steps.find(words, this.#block)?.step;
    if (step === undefined) {
      step = makeStep(kernel, kernel.memory(reader.read(memory)));
      reader.finish();
      calls.steps.set(words, { step, blocks: references(), scratch: [] });
    }
    this.#joined.add(step);
  }

  #readOptions(kernel: AnyStepKernel, fields: Fields, reader: Reader): Calls {
    const calls = this.#callsOf.get(kernel);
    const before = reader.rest();
    if (calls !== undefined && areEqual(before.subarray(0, calls.words.length), calls.words)) {
      reader.skip(calls.words.length);
      return calls;
    }
    const options = kernel.options(reader.read(fields));
    const words = before.slice(0, before.length - reader.rest().length);
    const found = { steps: new CommandCache<CachedStep>(), ...calls, options, words };
    this.#callsOf.set(kernel, found);
    return found;
  }
}
