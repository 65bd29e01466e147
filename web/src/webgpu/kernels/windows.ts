// Tensors larger than a binding: their parts are computed one after the other, each from the windows of memory that it accesses.

import type { Block } from "../blocks";
import { itemSize } from "../dtype";
import { kWindowUnit, type Operand, type View, type Window } from "../stream";
import type { Commands } from "./kernel";
import { product } from "./strides";

/** A part of an iteration. */
export interface Part {
  readonly shape: readonly number[];
  readonly operands: readonly Operand[];
}

type Limits = Pick<Commands, "mostBound">;

/** Whether the memory of a view can be bound. */
export function isBindable({ mostBound }: Limits, { block, window }: View): boolean {
  return (window?.bytes ?? block.size) <= mostBound;
}

/**
 * Divides an iteration into parts whose memory can be bound, in order; mostly there is one. Only the dimensions of `divisible` are
 * divided, the widest first, at multiples of 64 elements where a dimension has more. An operand that is too large even then has no windows. Views
 * of one block share a window, unless it would be too large and `written` is another block, the only one that is written.
 */
export function inWindows(
  limits: Limits,
  shape: readonly number[],
  operands: readonly Operand[],
  divisible: readonly number[] = shape.map((_, d) => d),
  written?: Block,
): Part[] {
  const isSmall = operands.every(({ view }) => isBindable(limits, view));
  if (isSmall || shape.includes(0)) return [{ shape, operands }];
  const shared = new Map<Block, Window>();
  const windows = operands.map((operand) => {
    const window = windowOf(shape, operand);
    shared.set(operand.view.block, union(window, shared.get(operand.view.block)));
    return window;
  });
  const parted = operands.map(({ view, strides }, i): Operand => {
    const all = shared.get(view.block) as Window;
    const isAlone = written && view.block !== written && all.bytes > limits.mostBound;
    return { view: { ...view, window: isAlone ? (windows[i] as Window) : all }, strides };
  });
  if (parted.every(({ view }) => isBindable(limits, view))) return [{ shape, operands: parted }];
  const extent = (d: number) =>
    Math.max(...operands.map((operand) => ((shape[d] as number) - 1) * stepBytes(operand, d)));
  const widest = divisible.reduce((a, b) => (extent(b) > extent(a) ? b : a), divisible[0] ?? 0);
  if (divisible.length === 0 || extent(widest) === 0) return [{ shape, operands }];
  const size = shape[widest] as number;
  const half = size > kUnit ? Math.ceil(size / 2 / kUnit) * kUnit : Math.ceil(size / 2);
  const part = (start: number, end: number) =>
    inWindows(
      limits,
      shape.map((size, d) => (d === widest ? end - start : size)),
      operands.map((operand) => movedBy(operand, widest, start)),
      divisible,
      written,
    );
  return [...part(0, half), ...part(half, size)];
}

/** A part of a list of elements. */
export interface Range {
  readonly first: number;
  readonly count: number;
  readonly views: readonly View[];
}

/** Divides the elements of packed memory in the same way. */
export function rangesInWindows(limits: Limits, count: number, views: readonly View[]): Range[] {
  const packed = views.map((view) => ({ view, strides: [1] }));
  let first = 0;
  return inWindows(limits, [count], packed).map(({ shape, operands }) => {
    const own = product(shape);
    first += own;
    return { first: first - own, count: own, views: operands.map(({ view }) => view) };
  });
}

/** Neighbors that stay together, in whole words and vectors. */
const kUnit = 64;

function stepBytes({ view, strides }: Operand, d: number): number {
  return Math.abs(strides[d] as number) * itemSize(view.dtype);
}

function movedBy({ view, strides }: Operand, d: number, start: number): Operand {
  const bytes = start * (strides[d] as number) * itemSize(view.dtype);
  return { view: { ...view, offset: view.offset + bytes }, strides };
}

// The bytes of its block that an operand accesses.
function windowOf(shape: readonly number[], { view, strides }: Operand): Window {
  const size = itemSize(view.dtype);
  let from = view.offset;
  let end = view.offset + size;
  for (const [d, stride] of strides.entries()) {
    const reach = ((shape[d] as number) - 1) * stride * size;
    if (reach < 0) from += reach;
    else end += reach;
  }
  const offset = Math.floor(from / kWindowUnit) * kWindowUnit;
  const last = Math.min(Math.ceil(end / kWindowUnit) * kWindowUnit, view.block.size);
  return { offset, bytes: last - offset };
}

function union(a: Window, b: Window = a): Window {
  const offset = Math.min(a.offset, b.offset);
  return { offset, bytes: Math.max(a.offset + a.bytes, b.offset + b.bytes) - offset };
}
