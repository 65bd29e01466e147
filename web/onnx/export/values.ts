// What a traced function computes: steps, and the values between them.

import { type DType, Tensor } from "edgegrad";

/** Where a value comes from: an argument, a tensor from outside the function, or a step. */
export type Origin = "input" | "parameter" | "buffer" | "constant" | "step";

/** A tensor of a traced function. */
export class Value {
  /** How to compute a constant that differs between the traces: filled with one number, or a list of numbers that depend on sizes. */
  made: { readonly fill: number } | { readonly numbers: readonly Size[] } | null = null;
  /** The shape in each trace; `shape` is that of the first. */
  shapes: readonly (readonly number[])[];

  constructor(
    readonly origin: Origin,
    readonly dtype: DType,
    readonly shape: readonly number[],
    /** The dotted name of a parameter or buffer; empty for others. */
    readonly name = "",
    /** The elements of a value that does not depend on the inputs. */
    public data: Tensor | null = null,
  ) {
    this.shapes = [shape];
  }

  get rank(): number {
    return this.shape.length;
  }

  /** Returns the size of a dimension: a number or a Varying. */
  size(dim: number): Size {
    return sizeOf(this.shapes.map((shape) => shape.at(dim) ?? 1));
  }

  /** Returns all sizes. */
  sizes(): Size[] {
    return this.shape.map((_, dim) => this.size(dim));
  }
}

/** A number that depends on the sizes of the inputs; `samples` are its values in the traces. */
export class Varying {
  constructor(readonly samples: readonly number[]) {}

  toString(): string {
    return this.samples.join(" / ");
  }
}

/** A number in a call, fixed or dependent on the sizes of the inputs. */
export type Size = number | Varying;

/** Returns the Size with these values in the traces. */
export function sizeOf(samples: readonly number[]): Size {
  const [first = 0] = samples;
  return samples.every((sample) => Object.is(sample, first)) ? first : new Varying(samples);
}

/** Returns the Size that is computed from others in each trace. */
export function sizeFrom(compute: (...sizes: number[]) => number, ...sizes: readonly Size[]): Size {
  const count = Math.max(1, ...sizes.map((size) => samplesOf(size).length));
  const at = (i: number) =>
    sizes.map((size) => (size instanceof Varying ? (size.samples[i] ?? 0) : size));
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
  /** The steps that this one consists of; empty for an op. */
  readonly parts: readonly Step[];
}

/** Returns `tree` with its leaves replaced: everything except arrays and plain objects is a leaf. */
export function mapLeaves(tree: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(tree)) return tree.map((leaf) => mapLeaves(leaf, change));
  if (!isPlain(tree)) return change(tree);
  return Object.fromEntries(
    Object.entries(tree).map(([key, leaf]) => [key, mapLeaves(leaf, change)]),
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

/** True for a plain object, which is not an instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || value instanceof Tensor) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
