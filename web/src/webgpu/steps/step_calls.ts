// Calls of kernels whose steps are joined: what is the same in a row is read once, and the memory of a call that
// comes again not at all.

import type { Block } from "../blocks";
import { areEqual, type Outcome, Outcomes } from "../outcomes";
import type { Reader } from "../stream";
import { JoinedSteps, type Joiner } from "./joined_steps";
import type { StepKernel, StepOptions } from "./step_kernel";
import { makeStep, type Step } from "./step_shader";

interface KnownStep extends Outcome {
  readonly step: Step;
}

interface Calls {
  /** Of the last one, and its words. */
  options: StepOptions;
  words: Uint32Array;
  readonly steps: Outcomes<KnownStep>;
}

export class StepCalls {
  readonly #joined: JoinedSteps;
  readonly #block: (number: number) => Block;
  readonly #callsOf = new Map<StepKernel, Calls>();

  /** `block` has the blocks by their numbers. */
  constructor(joiner: Joiner, block: (number: number) => Block) {
    this.#joined = new JoinedSteps(joiner);
    this.#block = block;
  }

  /** Has all steps so far recorded. */
  finish(): void {
    this.#joined.finish();
  }

  /** Plays a call whose fields come next; `named` gives the blocks that have been read of it. */
  play(kernel: StepKernel, fields: Reader, op: string, named: () => Outcome["blocks"]): void {
    const calls = this.#readOptions(kernel, fields);
    this.#joined.begin(calls.options, op);
    const words = fields.rest();
    let step = calls.steps.find(words, this.#block)?.step;
    if (step === undefined) {
      step = makeStep(kernel, kernel.memory(fields));
      fields.finish();
      calls.steps.keep(words, { step, blocks: named(), scratch: [] });
    }
    this.#joined.add(step);
  }

  #readOptions(kernel: StepKernel, fields: Reader): Calls {
    const calls = this.#callsOf.get(kernel);
    const before = fields.rest();
    if (calls !== undefined && areEqual(before.subarray(0, calls.words.length), calls.words)) {
      fields.skip(calls.words.length);
      return calls;
    }
    const options = kernel.options(fields);
    const words = before.slice(0, before.length - fields.rest().length);
    const found = { steps: new Outcomes<KnownStep>(), ...calls, options, words };
    this.#callsOf.set(kernel, found);
    return found;
  }
}
