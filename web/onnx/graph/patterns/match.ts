// Finds chains of steps in a graph that one op of edgegrad computes, and replaces them by one step.

import { kOwn } from "../../ops/index.js";
import type { Op } from "../../ops/op.js";
import { isNumbers } from "../../values/host.js";
import type { Value } from "../../values/value.js";
import { readBy } from "../analyze.js";
import type { Step, Subgraph } from "../program.js";

/** A match of a pattern: the steps to replace, and the op that replaces them. */
export interface Found {
  readonly steps: readonly Step[];
  readonly op: Op;
  readonly inputs: readonly number[];
  readonly output: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly title: string;
}

/** The steps of a graph by the slots that they write and read. */
export class Steps {
  readonly #makers = new Map<number, Step>();
  readonly #readers = new Map<number, Step[]>();
  readonly #outputs: ReadonlySet<number>;

  constructor(
    graph: Subgraph,
    readonly constants: ReadonlyMap<number, Value>,
  ) {
    this.#outputs = new Set(graph.outputs);
    for (const step of graph.steps) {
      for (const slot of step.outputs) this.#makers.set(slot, step);
      for (const slot of readBy(step)) {
        const readers = this.#readers.get(slot) ?? [];
        readers.push(step);
        this.#readers.set(slot, readers);
      }
    }
  }

  /** Returns the step that writes a slot, if it is of this op. */
  maker(slot: number | undefined, name: string): Step | undefined {
    const step = this.#makers.get(slot ?? -1);
    return step !== undefined && isOp(step, name) ? step : undefined;
  }

  /** Returns the step that reads the output of a step, if it is the only reader and of this op. */
  reader(step: Step | undefined, name: string): Step | undefined {
    if (step === undefined) return undefined;
    const [only, ...more] = this.#readers.get(outputOf(step)) ?? [];
    const isInner = only !== undefined && more.length === 0 && !this.#outputs.has(outputOf(step));
    return isInner && isOp(only, name) ? only : undefined;
  }

  /** Returns the number in a slot, if it is constant. */
  number(slot: number | undefined): number | undefined {
    const value = this.constants.get(slot ?? -1);
    return isNumbers(value) && value.data.length === 1 ? value.data[0] : undefined;
  }

  /** Whether only these steps read their own intermediate results. */
  areClosed(steps: readonly Step[], output: number): boolean {
    const own = new Set(steps);
    return steps.every((step) =>
      step.outputs.every(
        (slot) =>
          slot === output ||
          (!this.#outputs.has(slot) &&
            (this.#readers.get(slot) ?? []).every((reader) => own.has(reader))),
      ),
    );
  }
}

/** Whether a step is of an op of ONNX's own domain. */
export function isOp(step: Step, name: string): boolean {
  return step.op === kOwn.ops[name];
}

/** Returns the first output of a step. */
export function outputOf(step: Step): number {
  return step.outputs[0] as number;
}

/** Returns the other input of a step with two inputs. */
export function otherInput(step: Step, slot: number): number {
  return step.inputs[step.inputs[0] === slot ? 1 : 0] as number;
}

/** Whether a number equals `expected`, within the few digits that exporters write. */
export function isAbout(value: number | undefined, expected: number): boolean {
  return value !== undefined && Math.abs(value - expected) <= 1e-4 * Math.abs(expected);
}

/** A pattern, which is tried at one step at a time. */
export type Pattern = (step: Step, steps: Steps) => Found | undefined;

/** Applies patterns to a graph and its inner graphs; each pattern sees the replacements of those before it. */
export function replaceAll(
  graph: Subgraph,
  constants: ReadonlyMap<number, Value>,
  patterns: readonly Pattern[],
): void {
  for (const step of graph.steps) {
    for (const inner of step.graphs) replaceAll(inner, constants, patterns);
  }
  let steps = new Steps(graph, constants);
  for (const pattern of patterns) {
    if (replaceOne(graph, steps, pattern)) steps = new Steps(graph, constants);
  }
}

// Returns whether something was replaced.
function replaceOne(graph: Subgraph, steps: Steps, pattern: Pattern): boolean {
  const removed = new Set<Step>();
  const made = new Map<Step, Step>();
  for (const step of graph.steps) {
    const found = pattern(step, steps);
    if (found === undefined || found.steps.some((step) => removed.has(step))) continue;
    if (!steps.areClosed(found.steps, found.output)) continue;
    for (const step of found.steps) removed.add(step);
    const last = found.steps.find((step) => step.outputs.includes(found.output)) as Step;
    made.set(last, stepOf(found));
  }
  if (made.size === 0) return false;
  graph.steps = graph.steps.flatMap((step) => made.get(step) ?? (removed.has(step) ? [] : [step]));
  return true;
}

function stepOf({ op, inputs, output, attributes = {}, title }: Found): Step {
  return {
    op,
    title: `${title} (from several nodes)`,
    version: 1,
    inputs,
    outputs: [output],
    wanted: [true],
    attributes,
    graphs: [],
    release: [],
  };
}
