// Kernels that are called many times in a row, with the same options for memory of their own: an optimiser's steps.

import type { SupportedDTypes } from "../kernels/kernel";
import type { Access } from "../shader";

/** What is the same in all calls of a row. */
export interface StepOptions {
  /** Of all that the shader's text depends on, besides its memory. */
  readonly key: string;
  readonly uniforms: Readonly<Record<string, number>>;
  /** The text of a step for `i`; `has` tells which memory there is. */
  work(has: (name: string) => boolean): string;
}

/** What one call is for. */
export interface StepMemory {
  readonly memory: readonly Access[];
  /** Elements of all of it. */
  readonly count: number;
}

/** A kernel whose first field has the options. */
export interface StepStruct {
  readonly options: object;
}

/** The functions that `work` calls, on numbers and on four at a time. */
export interface StepFunctions {
  readonly functions: string;
  readonly functionsOfFours: string;
}

/** Its calls in a row become one dispatch. */
export interface StepKernel<Struct extends StepStruct> extends StepFunctions {
  readonly supported: SupportedDTypes;
  /** From the field `options`. */
  options(options: Struct["options"]): StepOptions;
  /** From all other fields. */
  memory(call: Omit<Struct, "options">): StepMemory;
}
