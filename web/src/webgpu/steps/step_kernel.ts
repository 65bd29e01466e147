// Kernels that are called many times in a row, with the same options and different memory: an optimizer's steps.

import type { SupportedDTypes } from "../kernels/kernel";
import type { Access } from "../shader";

/** The part that consecutive calls share. */
export interface StepOptions {
  /** Identifies everything that the shader's text depends on, apart from its memory. */
  readonly key: string;
  readonly uniforms: Readonly<Record<string, number>>;
  /** Returns the WGSL of a step for element `i`; `has` tells whether an optional memory is present. */
  work(has: (name: string) => boolean): string;
}

/** The memory of one call. */
export interface StepMemory {
  readonly memory: readonly Access[];
  /** The number of elements in each of them. */
  readonly count: number;
}

/** The struct of a step kernel: its first field is the options. */
export interface StepStruct {
  readonly options: object;
}

/** The WGSL functions that `work` calls, for floats and for vectors of four floats. */
export interface StepFunctions {
  readonly functions: string;
  readonly functionsOfVec4s: string;
}

/** A kernel whose consecutive calls are joined into one dispatch. */
export interface StepKernel<Struct extends StepStruct> extends StepFunctions {
  readonly supported: SupportedDTypes;
  /** Converts the field `options`. */
  options(options: Struct["options"]): StepOptions;
  /** Converts all other fields. */
  memory(call: Omit<Struct, "options">): StepMemory;
}
