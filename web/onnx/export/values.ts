// What a traced function computes: steps, and the values between them.

import { type DType, Tensor } from "edgegrad";

/** Where a value comes from: an argument, something the function uses from outside, or a step. */
export type Origin = "input" | "parameter" | "buffer" | "constant" | "step";

/** A tensor of a traced function. */
export class Value {
  /** What a constant that differs between the traces is made of: one number everywhere, or numbers that depend on sizes. */
  made: { readonly fill: number } | { readonly numbers: readonly Size[] } | null = null;
  /** The sizes at each of the sizes that the function was traced with; `shape` are those of the first. */
  shapes: readonly (readonly number[])[];

  constructor(
    readonly origin: Origin,
    readonly dtype: DType,
    readonly shape: readonly number[],
    /** The dotted name of a parameter or buffer; empty for others. */
    readonly name = "",
    /** The elements of a value that does not depend on the inputs, as a tensor of its own. */
    public data: Tensor | null = null,
  ) {
    this.shapes = [shape];
  }

  get rank(): number {
    return this.shape.length;
  }

  /** Returns the size of a dimension: a number, or a Varying one. */
  size(dim: number): Size {
    return sizeOf(this.shapes.map((shape) => shape.at(dim) ?? 1));
  }

  /** Returns all sizes. */
  sizes(): Size[] {
    return this.shape.map((_, dim) => this.size(dim));
  }
}

/** A number that depends on the sizes of the inputs: what it was at each of those that the function was traced with. */
export class Varying {
  constructor(readonly samples: readonly number[]) {}

  toString(): string {
    return this.samples.join(" / ");
  }
}

/** A number of a call, known or depending on the sizes of the inputs. */
export type Size = number | Varying;

/** Returns the number that has these values in the traces. */
export function sizeOf(samples: readonly number[]): Size {
  const [first = 0] = samples;
  return samples.every((one) => Object.is(one, first)) ? first : new Varying(samples);
}

/** Returns a number computed from others in every trace. */
export function sizeFrom(compute: (...sizes: number[]) => number, ...sizes: readonly Size[]): Size {
  const count = Math.max(1, ...sizes.map((one) => samplesOf(one).length));
  const at = (i: number) =>
    sizes.map((one) => (one instanceof Varying ? (one.samples[i] ?? 0) : one));
  return sizeOf(Array.from({ length: count }, (_, i) => compute(...at(i))));
}

function samplesOf(size: Size): readonly number[] {
  return size instanceof Varying ? size.samples : [size];
}

/** One call of an op. Its tensors are values; numbers may be Varying. */
export interface Step {
  readonly op: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly outputs: readonly Value[];
  /** The dotted name of the module that made the call. */
  readonly path: string;
  /** The steps of which this one consists; empty for an op. */
  readonly parts: readonly Step[];
}

/** Returns `tree` with its leaves replaced: everything but arrays and plain objects is a leaf. */
export function mapLeaves(tree: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(tree)) return tree.map((one) => mapLeaves(one, change));
  if (!isPlain(tree)) return change(tree);
  return Object.fromEntries(
    Object.entries(tree).map(([key, one]) => [key, mapLeaves(one, change)]),
  );
}

/** Returns the leaves of `tree` in order. */
export function leavesOf(tree: unknown): unknown[] {
  const leaves: unknown[] = [];
  mapLeaves(tree, (leaf) => leaves.push(leaf));
  return leaves;
}

/** Returns the values among the arguments of a step. */
export function valuesIn(step: Step): Value[] {
  return leavesOf(step.values).filter((leaf): leaf is Value => leaf instanceof Value);
}

/** True for an object that is no instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || value instanceof Tensor) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
