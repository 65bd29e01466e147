// Kernels that are called many times in a row, with the same options for memory of their own: an optimiser's steps.

import type { SupportedDTypes } from "../kernels/kernel";
import type { Access } from "../shader";
import type { Reader } from "../stream";

/** What is the same in all calls of a row. */
export interface StepOptions {
  /** Of all that the shader's text depends on, besides its memory. */
  readonly key: string;
  readonly numbers: Readonly<Record<string, number>>;
  /** The text of a step for `i`; `has` tells which memory there is. */
  work(has: (name: string) => boolean): string;
}

/** What one call is for. */
export interface StepMemory {
  readonly memory: readonly Access[];
  /** Elements of all of it. */
  readonly count: number;
}

/** Its calls in a row become one dispatch. */
export interface StepKernel {
  readonly supported: SupportedDTypes;
  /** What `work` calls, on numbers and on four at a time. */
  readonly functions: string;
  readonly functionsOfFours: string;
  /** Reads the fields that come first, all of one size. */
  options(fields: Reader): StepOptions;
  /** Reads the others. */
  memory(fields: Reader): StepMemory;
}
