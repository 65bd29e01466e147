// Tensor.at() and Tensor.set_(): the indexing x[...] of PyTorch. First integers, ranges, new axes and "..." are
// applied one after the other and make a view; then tensors, masks and arrays select from it, all in one op.

import { readArguments } from "../arguments/read.js";
import { integer } from "../arguments/rule.js";
import { aliasOf } from "../dispatch/interpreter.js";
import type { Operand } from "../dispatch/types.js";
import { index as indexOp, slice as sliceOp } from "../generated/internal.js";
import { copy_, fill_, indexPut_, reshape, select, unsqueeze, viewAs } from "../generated/ops.js";
import { calledAs, describe, fail, refusal } from "../runtime/errors/errors.js";
import type { DType } from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { tensor as create, kMaxDims } from "./create.js";

const kIntegers: readonly DType[] = ["int32", "int64"];

/** A range of indices along one dimension. */
export class Slice {
  constructor(
    /** The first index. */
    readonly start: number | null,
    /** The index after the last one. */
    readonly end: number | null,
    /** The difference between one index and the next. */
    readonly step: number,
  ) {}

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

const kSliceArguments = { start: integer.orNull(), end: integer.orNull(), step: integer.or(1) };

/** Returns the range start <= i < end with a step. null means an open end; negative values count from the end. */
export function slice(
  ...given: [start?: number | null, end?: number | null, step?: number]
): Slice {
  const { start, end, step } = readArguments("slice", kSliceArguments, given);
  return new Slice(start, end, step);
}

/** An array of positions, or of booleans that select where they are true; arrays may be nested. */
export type IndexList = readonly (number | bigint | boolean | IndexList)[];

/**
 * One index of `at` and `set_`: a position, a range, a new axis (null), the remaining axes ("..."),
 * positions (an integer tensor or an array) or a mask (a tensor or an array of booleans).
 */
export type Index = number | bigint | boolean | Slice | null | "..." | Tensor | IndexList;

/** Returns x[index...]: a view, or a copy if an index is an array, a mask or a tensor of positions. */
export function at(tensor: Tensor, index: readonly Index[]): Tensor {
  return calledAs("at", () => {
    if (index.every(isBasic)) return locate(tensor, index, "at", viewOf).view;
    return scope(() => {
      const { view, picks, dims } = locate(tensor, index, "at", viewOf);
      return picks.length === 0 ? view : indexOp(view, picks, dims);
    });
  });
}

/** Writes a value into x[index...]. */
export function setAt(tensor: Tensor, index: readonly Index[], value: Operand): void {
  if (!Array.isArray(index)) {
    fail(
      "InvalidArgument",
      "set_",
      refusal("idx", "an array of indices, as in x.set_([0], 5)", index),
    );
  }
  calledAs("set_", () =>
    scope(() => {
      const { view, picks, dims } = locate(tensor, index, "set_", (whole) =>
        aliasOf(whole, whole.another()),
      );
      const source = value instanceof Tensor ? withoutLeadingOnes(value) : value;
      // A single number may be written to elements that share memory; a tensor may not.
      const isNumber = !(source instanceof Tensor) || source.ndim === 0;
      if (picks.length === 0) (isNumber ? fill_ : copy_)(view, source);
      else indexPut_(view, picks, source, false, dims);
    }),
  );
}

// The result of applying an index: a view, and the tensors that select from it, each with its dimension.
interface Located {
  view: Tensor;
  picks: Tensor[];
  dims: number[];
}

// Applies the indices of a list one after the other: basic ones make a view, the others are collected.
class Locator implements Located {
  readonly picks: Tensor[] = [];
  readonly dims: number[] = [];
  #made: Tensor | null = null;
  #dim = 0;
  // The current dimension of the tensor that is indexed, for messages.
  #source = 0;

  constructor(
    readonly tensor: Tensor,
    readonly name: string,
    // Makes the view if no index is a basic one.
    readonly whole: (tensor: Tensor) => Tensor,
  ) {}

  get view(): Tensor {
    this.#made ??= this.whole(this.tensor);
    return this.#made;
  }

  skip(count: number): void {
    this.#dim += count;
    this.#source += count;
  }

  add(index: Exclude<Index, "...">): void {
    if (index === null) this.#become(unsqueeze(this.#current, this.#dim++));
    else if (index instanceof Slice) this.#addSlice(index);
    else if (typeof index === "number" || typeof index === "bigint") this.#select(Number(index));
    else if (index instanceof Tensor) this.#addTensor(index);
    else this.#addPick(toPositions(index, this.name));
  }

  get #current(): Tensor {
    return this.#made ?? this.tensor;
  }

  #become(view: Tensor): void {
    this.#made?.dispose();
    this.#made = view;
  }

  #addSlice({ start, end, step }: Slice): void {
    this.#become(sliceOp(this.#current, this.#dim, start, end, step));
    this.skip(1);
  }

  // A tensor with a single position selects like a number and makes a view.
  #addTensor(index: Tensor): void {
    if (index.ndim === 0 && !isMask(index) && kIntegers.includes(index.dtype)) {
      this.#select(Number(index.item()));
    } else {
      this.#addPick(index);
    }
  }

  #addPick(index: Tensor): void {
    this.picks.push(index);
    this.dims.push(this.#dim);
    this.skip(isMask(index) ? index.ndim : 1);
  }

  #select(position: number): void {
    const size = this.#current.shape[this.#dim] ?? 0;
    if (!Number.isInteger(position)) {
      fail("InvalidArgument", this.name, `an index must be a whole number, got ${position}.`);
    }
    if (position < -size || position >= size) {
      fail(
        "IndexOutOfRange",
        this.name,
        `index ${position} is out of range for dimension ${this.#source} of size ${size}.`,
      );
    }
    this.#become(select(this.#current, this.#dim, position));
    this.#source++;
  }
}

// Returns a view of the whole tensor.
function viewOf(tensor: Tensor): Tensor {
  return viewAs(tensor, tensor);
}

function locate(
  tensor: Tensor,
  index: readonly Index[],
  name: string,
  whole: (tensor: Tensor) => Tensor,
): Located {
  const { shape } = tensor;
  const used = index.reduce<number>((count, entry) => count + dimensionsOf(entry, name), 0);
  if (used > shape.length) {
    fail(
      "IndexOutOfRange",
      name,
      `got ${used} indices for a tensor with ${shape.length} dimensions.`,
    );
  }
  if (index.indexOf("...") !== index.lastIndexOf("...")) {
    fail("InvalidArgument", name, "'...' may occur only once.");
  }
  const locator = new Locator(tensor, name, whole);
  for (const entry of index) {
    if (entry === "...") locator.skip(shape.length - used);
    else locator.add(entry);
  }
  return locator;
}

function isBasic(index: Index): boolean {
  return typeof index === "number" || index === null || index === "..." || index instanceof Slice;
}

function isMask({ dtype }: Tensor): boolean {
  return dtype === "bool" || dtype === "uint8";
}

// Returns how many dimensions of the tensor an index uses.
function dimensionsOf(index: Index, name: string): number {
  if (index === null || index === "..." || typeof index === "boolean") return 0;
  if (index instanceof Tensor) return isMask(index) ? index.ndim : 1;
  if (Array.isArray(index)) return typeof firstOf(index) === "boolean" ? depthOf(index) : 1;
  if (index instanceof Slice || typeof index === "number" || typeof index === "bigint") return 1;
  return fail(
    "InvalidArgument",
    name,
    `an index is an integer, eg.slice(), null, '...', a tensor or an array, got ${describe(index)}.${adviceFor(index)}`,
  );
}

// Suggests eg.slice() for a string that contains a Python range.
function adviceFor(index: unknown): string {
  if (typeof index !== "string" || !/^\s*(-?\d*\s*:\s*){1,2}-?\d*\s*$/.test(index)) return "";
  const bounds = index.split(":").map((bound) => bound.trim() || "null");
  while (bounds.at(-1) === "null") bounds.pop();
  return ` Write eg.slice(${bounds.join(", ")}) for ${describe(index)}.`;
}

function firstOf(list: unknown): unknown {
  return levelsOf(list).at(-1);
}

function depthOf(list: unknown): number {
  return levelsOf(list).length - 1;
}

// Returns an array, its first element, the first element of that, and so on.
function levelsOf(list: unknown): unknown[] {
  const levels = [list];
  for (let level = list; Array.isArray(level); level = level[0]) {
    levels.push(level[0]);
    // An array that contains itself would never end.
    if (levels.length > kMaxDims + 1) {
      fail("InvalidArgument", "index", `an array of indices may have at most ${kMaxDims} levels.`);
    }
  }
  return levels;
}

function toPositions(index: boolean | IndexList, name: string): Tensor {
  if (typeof firstOf(index) === "boolean") return create(index, { dtype: "bool" });
  if (!isWhole(index)) {
    fail("InvalidArgument", name, "an array of positions must contain whole numbers.");
  }
  return create(index, { dtype: "int64" });
}

function isWhole(list: unknown): boolean {
  if (Array.isArray(list)) return Array.from(list).every(isWhole);
  return typeof list === "bigint" || Number.isSafeInteger(list);
}

// As in PyTorch, x[...] = value ignores leading dimensions of size 1 in the value.
function withoutLeadingOnes(value: Tensor): Tensor {
  const { shape } = value;
  const first = shape.findIndex((size) => size !== 1);
  return first === 0 || shape.length === 0
    ? value
    : reshape(value, first < 0 ? [] : shape.slice(first));
}
