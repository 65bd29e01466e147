// A compiled graph: steps that read and write numbered slots of one frame. Inner graphs and functions of the model have their own
// slots in the same frame.

import { kOwn } from "../ops/index.js";
import type { InnerGraph, Op } from "../ops/op.js";

/** One node. */
export interface Step {
  readonly op: Op;
  /** The description of the node in messages. */
  readonly title: string;
  /** The version of the op's domain. */
  readonly version: number;
  /** The slots of its inputs; -1 for one that is left out. */
  readonly inputs: readonly number[];
  /** The slots of its outputs; -1 for one that is unused. */
  readonly outputs: readonly number[];
  /** Whether each output has a name. */
  readonly wanted: readonly boolean[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The graphs among its attributes. */
  readonly graphs: readonly Subgraph[];
  /** The slots that no later step of the same graph reads. */
  release: readonly number[];
}

/** A list of steps, with the slots of its inputs and outputs. */
export interface Subgraph extends InnerGraph {
  steps: readonly Step[];
}

/** Returns a step that only gives a value another slot. */
export function passing(title: string, input: number, output: number): Step {
  return {
    op: kOwn.ops.Identity as Op,
    title,
    version: 1,
    inputs: [input],
    outputs: [output],
    wanted: [true],
    attributes: {},
    graphs: [],
    release: [],
  };
}
