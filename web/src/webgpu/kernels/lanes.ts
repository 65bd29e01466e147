// Rows that several invocations go through together.
//
// A workgroup has some positions (the rows, or results) and for each of them lanes, which share its work
// and then combine what they found. Long rows have many lanes, short ones many positions. Neighbouring
// invocations are neighbouring lanes where elements of a row lie side by side, and neighbouring positions
// where those do: in either case they read neighbouring words. Where the device computes on the CPU, lanes
// that wait for one another cost more than they save, unless there is next to nothing else to do at a time.

import { kThreads, workgroups } from "./invocations";
import type { Commands } from "./kernel";

export interface Lanes {
  readonly lanes: number;
  readonly isRowMajor: boolean;
  /** Invocations of a workgroup. */
  readonly threads: number;
}

/** For `count` positions with `size` elements each. */
export function chooseLanes(
  { isSoftware }: Pick<Commands, "isSoftware">,
  count: number,
  size: number,
  isRowMajor: boolean,
): Lanes {
  return isSoftware
    ? lanesOfSoftware(count, size, isRowMajor)
    : lanesOfHardware(count, size, isRowMajor);
}

/** Invocations of a workgroup where the device computes on the CPU: few, so that all cores get some. */
const kFewThreads = 16;
/** With fewer positions cores and their vectors would be idle. */
const kBusyPositions = 16;
/** The sum of more elements, one after the other, would be far off. */
const kMaxPerLane = 4096;

function lanesOfSoftware(count: number, size: number, isRowMajor: boolean): Lanes {
  const shares = size > kMaxPerLane || (count < kBusyPositions && size >= 4 * kFewThreads);
  return { lanes: shares ? kFewThreads : 1, isRowMajor, threads: kFewThreads };
}

function lanesOfHardware(count: number, size: number, isRowMajor: boolean): Lanes {
  let lanes = 1;
  // A lane has some elements, unless there are not enough positions to fill a GPU.
  const least = isRowMajor ? 2 : 8;
  const most = isRowMajor ? kThreads : kThreads / 16;
  while (lanes < most && 2 * lanes * least <= size) lanes *= 2;
  if (!isRowMajor) while (lanes > 1 && count * lanes > 2 ** 17) lanes /= 2;
  return { lanes, isRowMajor, threads: kThreads };
}

export function lanesKey({ lanes, isRowMajor, threads }: Lanes): string {
  return `${lanes}${isRowMajor ? "r" : "c"}${threads}`;
}

export function laneWorkgroups({ lanes, threads }: Lanes, positions: number): [number, number] {
  return workgroups(Math.ceil(positions / (threads / lanes)));
}

/**
 * The frame of a shader: `work` runs in every invocation with `lane` (below kLanes) and `position`, also
 * with positions that are not below `u.positions`; what it reads there does not matter, and it may not
 * write. `is_inside` tells.
 */
export function forEachLane({ lanes, isRowMajor, threads }: Lanes, work: string): string {
  const positions = threads / lanes;
  const lane = isRowMajor ? `thread % ${lanes}u` : `thread / ${positions}u`;
  const positionInGroup = isRowMajor ? `thread / ${lanes}u` : `thread % ${positions}u`;
  return `const kLanes = ${lanes}u;
@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let lane = ${lane};
  let asked = (group.x + group.y * groups.x) * ${positions}u + ${positionInGroup};
  let is_inside = asked < u.positions;
  let position = min(asked, u.positions - 1u);
  ${work}
}
`;
}

/** A way to combine what two lanes have. */
export interface Combination {
  /** A type, for which workgroups can have variables. */
  readonly type: string;
  /** Of `a` and `b`, in this order. */
  readonly text: string;
}

/** A function `name(thread, value)` that gives every lane of a position what all of them have together. */
export function combineLanes(
  name: string,
  { lanes, isRowMajor, threads }: Lanes,
  { type, text }: Combination,
): string {
  if (lanes === 1) return `fn ${name}(thread: u32, value: ${type}) -> ${type} { return value; }`;
  const positions = threads / lanes;
  const step = isRowMajor ? 1 : positions;
  const lane = isRowMajor ? `thread % ${lanes}u` : `thread / ${positions}u`;
  const first = isRowMajor ? `thread - thread % ${lanes}u` : `thread % ${positions}u`;
  return `var<workgroup> shared_${name}: array<${type}, ${threads}>;
fn ${name}(thread: u32, value: ${type}) -> ${type} {
  shared_${name}[thread] = value;
  workgroupBarrier();
  for (var half = ${lanes / 2}u; half > 0u; half >>= 1u) {
    if (${lane} < half) {
      let a = shared_${name}[thread];
      let b = shared_${name}[thread + half * ${step}u];
      shared_${name}[thread] = ${text};
    }
    workgroupBarrier();
  }
  let all = shared_${name}[${first}];
  workgroupBarrier();
  return all;
}`;
}

export const kSum: Combination = { type: "f32", text: "a + b" };
export const kMaximum: Combination = { type: "f32", text: "maximum_f32(a, b)" };
