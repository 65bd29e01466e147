// The common parts of convolutions on devices that compute on the CPU. Every invocation works independently on several
// channels and on a segment of a row of positions. The elements that it reads for a tap are neighbors in a row of the
// other planes, so their positions are computed once for all channels.
//
// On such a device, reading a number costs as much as 25 multiplications, and setting a variable as much as three.
// Invocations therefore have long segments and many channels, the taps of a row are unrolled if the text does not become
// too long, and a variable is set once for all taps.

import { workgroups } from "../invocations";
import { range } from "../text";
import type { Axis } from "./convolution";

/** Invocations per workgroup: few, so that all cores get work. */
export const kSegmentThreads = 16;

/** The beginning of a main function, up to the index `i` of an invocation that has work. */
export const kSegmentsHead = `@compute @workgroup_size(${kSegmentThreads})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * (groups.x * ${kSegmentThreads}u);
  if (i >= u.count) {
    return;
  }`;

export const segmentWorkgroups = (count: number) => workgroups(Math.ceil(count / kSegmentThreads));

/** The maximum number of positions in a segment, and of multiplications in a text. */
const kMaxSegment = 8;
const kMaxProducts = 400;
/** The maximum number of taps in a row that are unrolled; longer rows are processed in a loop. */
const kMaxTaps = 7;

/** Divides `count` items into the fewest shares of at most `most`, as equal as possible; returns the size of a share. */
export function shareOf(count: number, most: number): number {
  return Math.ceil(count / Math.max(1, Math.ceil(count / Math.max(1, most))));
}

/** The number of positions in a segment of a row. */
export const segmentOf = (columns: number) => Math.max(1, shareOf(columns, kMaxSegment));

/** The number of taps of a row that are unrolled. */
export const unrolledTaps = ({ kernel }: Axis) => (kernel <= kMaxTaps ? kernel : 1);

/** The maximum number of channels in a text with `products` multiplications per channel. */
export const maxChannels = (products: number) => Math.floor(kMaxProducts / products);

/** Result position p reads, with a tap, position (p step + tap tapStep + offset) / divisor, if that is an integer inside the plane. */
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
 * Returns the WGSL for the position that a map yields for the dividend `number`, and for whether it exists in a row or column of
 * `size`. The conditions are combined without branches: a software renderer needs minutes and gigabytes to compile dozens of branches.
 */
export function mapText({ divisor }: AxisMap, number: string, size: string) {
  if (divisor === 1) return { position: `u32(${number})`, exists: `u32(${number}) < ${size}` };
  const position = `u32(${number}) / ${divisor}u`;
  const exists = `(${number} >= 0) & (u32(${number}) % ${divisor}u == 0u) & (${position} < ${size})`;
  return { position, exists };
}

/** The distinct columns that the positions 0, 1, ... of a segment read with the taps 0, 1, ..., as distances from the first one. */
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

  /** Returns the WGSL that computes the columns. `first` is the dividend for the first position and tap, `size` the length of a row. */
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

  /** Returns the WGSL that reads the columns of the row at `row` into variables with the prefix `name`; 0 for columns that do not exist. */
  readText(name: string, load: string, row: string): string {
    return this.#distances
      .map((_, n) => `let ${name}_${n} = select(0f, ${load}(${row} + column_${n}), is_${n});`)
      .join("\n      ");
  }

  /** Returns the variable with the element that a position reads with a tap. */
  read(name: string, position: number, tap: number): string {
    return `${name}_${this.#distances.indexOf(this.#distance(position, tap))}`;
  }
}
