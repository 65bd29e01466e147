// Parts of a tensor in a file: which elements a selection has, and where their bytes are.

import { isPlainObject } from "../arguments/read.js";
import { Slice } from "../ops/indexing.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { contiguousStrides } from "../tensor/shape.js";
import { readBytes, type Source } from "./sources/source.js";

/** The part of a dimension: [start, end], eg.slice(start, end), one position, or null for all of it. */
export type SliceRange = readonly [start: number, end: number] | Slice | number | null;

/** The checked part of a dimension. */
export interface Selected {
  readonly start: number;
  readonly end: number;
  /** True for a single position, whose dimension the result does not have. */
  readonly isRemoved: boolean;
}

/** Returns the part of every dimension, and the options that follow the ranges. */
export function selectionOf(
  where: string,
  name: string,
  shape: readonly number[],
  given: readonly unknown[],
): { selected: Selected[]; rest: unknown[] } {
  const last = given.at(-1);
  const hasOptions = isPlainObject(last);
  const ranges = hasOptions ? given.slice(0, -1) : given;
  if (ranges.length > shape.length) {
    fail(
      "InvalidArgument",
      where,
      `${ranges.length} ranges were given for ${JSON.stringify(name)}, which has the shape [${shape}].`,
    );
  }
  const selected = shape.map((size, dim) => partOf(where, dim, size, ranges[dim] ?? null));
  return { selected, rest: hasOptions ? [last] : [] };
}

function partOf(where: string, dim: number, size: number, range: unknown): Selected {
  if (range === null) return { start: 0, end: size, isRemoved: false };
  if (Number.isInteger(range)) {
    const at = (range as number) < 0 ? (range as number) + size : (range as number);
    if (at < 0 || at >= size) {
      fail("IndexOutOfRange", where, `position ${range} in dimension ${dim} of size ${size}.`);
    }
    return { start: at, end: at + 1, isRemoved: true };
  }
  const [start, end, step] =
    range instanceof Slice ? [range.start, range.end, range.step] : pairIn(range);
  if (!isBound(start) || !isBound(end) || step !== 1) {
    const got = step === 1 ? describe(range) : `a step of ${step}`;
    fail(
      "InvalidArgument",
      where,
      `dimension ${dim}: expected [start, end], eg.slice(start, end) with a step of 1, a position or null, got ${got}.`,
    );
  }
  // Like slices of Python and JavaScript, ranges end where the dimension does.
  const first = within(start ?? 0, size);
  return { start: first, end: Math.max(first, within(end ?? size, size)), isRemoved: false };
}

function pairIn(range: unknown): [unknown, unknown, number] {
  return Array.isArray(range) && range.length === 2 ? [range[0], range[1], 1] : ["", "", 1];
}

function isBound(value: unknown): value is number | null {
  return value === null || Number.isInteger(value);
}

function within(bound: number, size: number): number {
  return Math.min(Math.max(bound < 0 ? bound + size : bound, 0), size);
}

/** Adjacent elements: the position of the first, and how many. */
export type Run = readonly [start: number, length: number];

/** Returns the runs of adjacent elements of a selection, in order. */
export function* runsOf(shape: readonly number[], selected: readonly Selected[]): Iterable<Run> {
  if (selected.some(({ start, end }) => start === end)) return;
  const strides = contiguousStrides(shape);
  // Dimensions that are read whole belong to one run, and so does the part of the dimension before them.
  let inner = shape.length - 1;
  while (inner > 0 && lengthOf(selected[inner]) === shape[inner]) inner--;
  const length = inner < 0 ? 1 : lengthOf(selected[inner]) * (strides[inner] ?? 1);
  const position = selected.map(({ start }) => start);
  for (;;) {
    yield [position.reduce((at, index, dim) => at + index * (strides[dim] ?? 1), 0), length];
    let dim = inner - 1;
    for (; dim >= 0; dim--) {
      const { start = 0, end = 0 } = selected[dim] ?? {};
      const next = (position[dim] ?? 0) + 1;
      position[dim] = next < end ? next : start;
      if (next < end) break;
    }
    if (dim < 0) return;
  }
}

function lengthOf(part: Selected | undefined): number {
  return part === undefined ? 0 : part.end - part.start;
}

/** Runs that are this near to each other are read at once, because a request costs more than the bytes between. */
const kNearBytes = 64 * 1024;

/** The most bytes of several runs that are read at once. */
const kBatchBytes = 2 ** 20;

/**
 * Returns the bytes of runs of elements of `width` bytes in pieces, each of which may change when the next one is asked for; the first element
 * of all is at `start`.
 */
export async function* piecesOfRuns(
  source: Source,
  start: number,
  width: number,
  runs: Iterable<Run>,
): AsyncIterable<Uint8Array> {
  let batch: Run[] = [];
  for (const [first, length] of runs) {
    const run = [start + first * width, length * width] as const;
    const [from] = batch[0] ?? run;
    const [lastStart, lastLength] = batch.at(-1) ?? run;
    const isNear = run[0] - (lastStart + lastLength) <= kNearBytes;
    if (!isNear || run[0] + run[1] - from > kBatchBytes) {
      yield* piecesOfBatch(source, batch);
      batch = [];
    }
    batch.push(run);
  }
  yield* piecesOfBatch(source, batch);
}

async function* piecesOfBatch(source: Source, batch: readonly Run[]): AsyncIterable<Uint8Array> {
  const [first, last] = [batch[0], batch.at(-1)];
  if (first === undefined || last === undefined) return;
  const [start, end] = [first[0], last[0] + last[1]];
  if (batch.length === 1) {
    yield* source.pieces(start, end, true);
    return;
  }
  const bytes = await readBytes(source, start, end);
  const packed = new Uint8Array(batch.reduce((sum, [, length]) => sum + length, 0));
  let at = 0;
  for (const [from, length] of batch) {
    packed.set(bytes.subarray(from - start, from - start + length), at);
    at += length;
  }
  yield packed;
}
