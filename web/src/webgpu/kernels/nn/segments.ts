// What convolutions have in common where the device computes on the CPU: every invocation makes results, of some channels
// or from some, along a segment of a row of places, by itself. What it reads for a tap are neighbours in a row of
// the other planes, too: where they lie is found out once for all channels.
//
// Reading a number costs such a device as much as 25 multiplications, setting a variable as much as three. So
// segments and channels are many, taps of a row come together where their texts are not too long, and a variable
// is set once for all of them.

import { workgroups } from "../invocations";
import { range } from "../text";
import type { Axis } from "./convolution";

/** Invocations of a workgroup: few, so that all cores get some. */
export const kSegmentThreads = 16;

/** The beginning of a main function: the number `i` of an invocation that has work. */
export const kSegmentsHead = `@compute @workgroup_size(${kSegmentThreads})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * (groups.x * ${kSegmentThreads}u);
  if (i >= u.count) {
    return;
  }`;

export const segmentWorkgroups = (count: number) => workgroups(Math.ceil(count / kSegmentThreads));

/** Places of a segment, at most, and multiplications of a text. */
const kMaxSegment = 8;
const kMaxProducts = 400;
/** Longer rows of taps are gone through one by one. */
const kMaxTaps = 7;

/** `count` things in equal shares of `most`, if that goes: how many a share has. */
export function shareOf(count: number, most: number): number {
  return Math.ceil(count / Math.max(1, Math.ceil(count / Math.max(1, most))));
}

/** The places of a segment of a row. */
export const segmentOf = (columns: number) => Math.max(1, shareOf(columns, kMaxSegment));

/** The taps of a row that a text has side by side. */
export const unrolledTaps = ({ kernel }: Axis) => (kernel <= kMaxTaps ? kernel : 1);

/** How many channels a text can have with so many multiplications for each. */
export const maxChannels = (products: number) => Math.floor(kMaxProducts / products);

/** Place p of what is written reads place (p step + tap tapStep + offset) / divisor, if there is one. */
export interface AxisMap {
  readonly step: number;
  readonly tapStep: number;
  readonly offset: number;
  readonly divisor: number;
}

export function forwardMap({ stride, padding, dilation }: Axis): AxisMap {
  return { step: stride, tapStep: dilation, offset: -padding, divisor: 1 };
}

export function backwardMap({ stride, padding, dilation }: Axis): AxisMap {
  return { step: 1, tapStep: -dilation, offset: padding, divisor: stride };
}

/**
 * The place of a meeting whose dividend is `number`, and whether a row or column of `size` has it. All is asked at once: of
 * dozens of branches in a text a software renderer compiles for minutes, in gigabytes.
 */
export function mapText({ divisor }: AxisMap, number: string, size: string) {
  if (divisor === 1) return { position: `u32(${number})`, exists: `u32(${number}) < ${size}` };
  const position = `u32(${number}) / ${divisor}u`;
  const exists = `(${number} >= 0) & (u32(${number}) % ${divisor}u == 0u) & (${position} < ${size})`;
  return { position, exists };
}

/** Columns that places 0, 1, ... of a segment read with taps 0, 1, ...: those that differ, from that of the first on. */
export class Columns {
  readonly #map: AxisMap;
  readonly #distances: number[];

  constructor(map: AxisMap, positions: number, taps: number) {
    this.#map = map;
    const all = range(positions).flatMap((position) =>
      range(taps).map((tap) => this.#distance(position, tap)),
    );
    this.#distances = [...new Set(all)];
  }

  #distance(position: number, tap: number): number {
    return position * this.#map.step + tap * this.#map.tapStep;
  }

  /** Finds them: those of the first place and tap are `first`, and a row has `size`. */
  findText(first: string, size: string): string {
    return this.#distances
      .map((distance, n) => {
        const found = mapText(this.#map, `number_${n}`, size);
        return `let number_${n} = ${first} + (${distance});
    let is_${n} = ${found.exists};
    let column_${n} = select(0u, ${found.position}, is_${n});`;
      })
      .join("\n    ");
  }

  /** Reads them as `name` and a number, from a row that begins at `row`: 0 where there is none. */
  readText(name: string, load: string, row: string): string {
    return this.#distances
      .map((_, n) => `let ${name}_${n} = select(0f, ${load}(${row} + column_${n}), is_${n});`)
      .join("\n      ");
  }

  /** What a place reads with a tap. */
  read(name: string, position: number, tap: number): string {
    return `${name}_${this.#distances.indexOf(this.#distance(position, tap))}`;
  }
}
