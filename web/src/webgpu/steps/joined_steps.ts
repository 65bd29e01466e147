// Joins consecutive optimizer steps into as few dispatches as possible.

import type { Block } from "../blocks";
import { unitBytes } from "../shader";
import type { StepOptions } from "./step_kernel";
import { boundBlocks, maxSteps, type Step } from "./step_shader";

/** The operations that JoinedSteps needs from its owner. */
export interface Joiner {
  /** The largest block of a step that is joined; steps with larger blocks have enough work for their own dispatch. */
  readonly maxBytes: number;
  /** Moves blocks, where possible, into the buffer of their role. Returns a map from old to new blocks. */
  gather(role: number, blocks: readonly Block[]): ReadonlyMap<Block, Block>;
  /** Records one dispatch of all these steps. */
  run(steps: readonly Step[], options: StepOptions, op: string): void;
}

interface Plan {
  readonly steps: readonly Step[];
  /** The steps of every dispatch. */
  readonly dispatches: readonly (readonly Step[])[];
}

export class JoinedSteps {
  readonly #joiner: Joiner;
  #steps: Step[] = [];
  #options: StepOptions | undefined;
  #op = "";
  // By the first step of a sequence, because training repeats the same sequences.
  #plans = new WeakMap<Step, Plan>();

  constructor(joiner: Joiner) {
    this.#joiner = joiner;
  }

  /** Begins steps with these options. Steps with other options are dispatched first, because that may move blocks of these. */
  begin(options: StepOptions, op: string): void {
    if (options !== this.#options) this.finish();
    this.#options = options;
    this.#op = op;
  }

  /** Forgets which steps shared a dispatch, because their memory is elsewhere now. */
  forgetPlans(): void {
    this.#plans = new WeakMap();
  }

  add(step: Step): void {
    this.#steps.push(step);
  }

  /** Dispatches all steps so far. */
  finish(): void {
    const { dispatches } = this.#plan();
    const options = this.#options as StepOptions;
    this.#steps = [];
    for (const steps of dispatches) this.#joiner.run(steps, options, this.#op);
  }

  #plan(): Plan {
    const steps = this.#steps;
    const [first] = steps;
    if (first === undefined) return kEmptyPlan;
    const known = this.#plans.get(first);
    if (known?.steps.length === steps.length && known.steps.every((step, i) => step === steps[i]))
      return known;
    const gathered = this.#gather(steps);
    const dispatches = runsOf(gathered).flatMap(groupsOf);
    const plan = { steps, dispatches };
    // Steps whose memory was moved do not recur.
    if (gathered === steps) this.#plans.set(first, plan);
    return plan;
  }

  // Returns the steps with their memory moved so that one shader can bind it.
  #gather(steps: readonly Step[]): readonly Step[] {
    const { maxBytes } = this.#joiner;
    const moved = new Map<Block, Block>();
    for (const some of chunksOf(steps.filter((step) => largestBlock(step) <= maxBytes))) {
      const roles = Math.max(...some.map(({ memory }) => memory.length));
      for (let role = 0; role < roles; role++) {
        const blocks = some.flatMap(({ memory }) => memory[role]?.view.block ?? []);
        for (const [from, to] of this.#joiner.gather(role, blocks)) moved.set(from, to);
      }
    }
    if (moved.size === 0) return steps;
    return steps.map((step) => ({
      ...step,
      memory: step.memory.map((access) => {
        const { view } = access;
        return { ...access, view: { ...view, block: moved.get(view.block) ?? view.block } };
      }),
    }));
  }
}

/** The maximum bytes of a role that are gathered in one buffer. */
const kMaxGatheredBytes = 32 * 2 ** 20;

function largestBlock({ memory }: Step): number {
  return memory.reduce((most, { view }) => Math.max(most, view.block.size), 0);
}

// Splits steps into groups that are gathered in one buffer; leaves out groups of one step.
function chunksOf(steps: readonly Step[]): Step[][] {
  const chunks: Step[][] = [];
  let bytes = 0;
  for (const step of steps) {
    const own = largestBlock(step);
    if (chunks.length === 0 || bytes + own > kMaxGatheredBytes) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(step);
    bytes += own;
  }
  return chunks.filter(({ length }) => length > 1);
}

const kEmptyPlan: Plan = { steps: [], dispatches: [] };

// Splits a sequence into runs: within a run, no step accesses memory that another step writes.
function runsOf(steps: readonly Step[]): Step[][] {
  const runs: Step[][] = [];
  let ranges = new Map<Block, Range[]>();
  for (const step of steps) {
    const own = rangesOf(step);
    const collides = own.some((range) =>
      ranges.get(range.block)?.some((other) => collide(range, other)),
    );
    if (runs.length === 0 || collides) {
      runs.push([]);
      ranges = new Map();
    }
    runs.at(-1)?.push(step);
    for (const range of own) ranges.set(range.block, [...(ranges.get(range.block) ?? []), range]);
  }
  return runs;
}

interface Range {
  readonly block: Block;
  readonly begin: number;
  readonly end: number;
  readonly isWritten: boolean;
}

function rangesOf({ memory, count }: Step): Range[] {
  return memory.map((access) => {
    const { block, offset } = access.view;
    const end = offset + count * unitBytes(access);
    return { block, begin: offset, end, isWritten: access.mode !== "read" };
  });
}

function collide(a: Range, b: Range): boolean {
  return (a.isWritten || b.isWritten) && a.begin < b.end && b.begin < a.end;
}

// Groups steps that one dispatch can execute.
function groupsOf(steps: readonly Step[]): Step[][] {
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const key = `${step.key} ${boundBlocks(step).map(({ id }) => id)}`;
    groups.set(key, [...(groups.get(key) ?? []), step]);
  }
  return [...groups.values()].flatMap((group) => {
    const most = maxSteps(group[0] as Step);
    const parts = Array.from({ length: Math.ceil(group.length / most) }, (_, i) => i * most);
    return parts.map((from) => group.slice(from, from + most));
  });
}
