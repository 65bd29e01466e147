// Rows that are processed by several invocations together.
//
// A workgroup handles several positions (rows, or results). Each position has lanes, which share its work and then
// combine their partial results. Long rows get many lanes; short rows leave more positions per workgroup. Neighboring
// invocations are neighboring lanes if the elements of a row are contiguous, and neighboring positions otherwise, so
// that they read neighboring words in either case. On a device that computes on the CPU, the barriers between lanes
// cost more than the lanes save, unless there are too few positions to keep it busy.

import type { Dispatch } from "../recorder";
import { kThreads, workgroups } from "./invocations";
import type { Commands } from "./kernel";

export interface Lanes {
  readonly lanes: number;
  readonly isRowMajor: boolean;
  /** Invocations per workgroup. */
  readonly threads: number;
}

/** Chooses the lanes for `count` positions with `size` elements each. */
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

/** Invocations per workgroup on a device that computes on the CPU: few, so that all cores get work. */
const kFewThreads = 16;
/** With fewer positions, cores and their vector units would be idle. */
const kBusyPositions = 16;
/** Adding up more elements sequentially would be too inaccurate. */
const kMaxPerLane = 4096;

function lanesOfSoftware(count: number, size: number, isRowMajor: boolean): Lanes {
  const shares = size > kMaxPerLane || (count < kBusyPositions && size >= 4 * kFewThreads);
  return { lanes: shares ? kFewThreads : 1, isRowMajor, threads: kFewThreads };
}

function lanesOfHardware(count: number, size: number, isRowMajor: boolean): Lanes {
  let lanes = 1;
  // Every lane gets at least this many elements.
  const least = isRowMajor ? 2 : 8;
  const most = isRowMajor ? kThreads : kThreads / 16;
  while (lanes < most && 2 * lanes * least <= size) lanes *= 2;
  if (!isRowMajor) while (lanes > 1 && count * lanes > 2 ** 17) lanes /= 2;
  return { lanes, isRowMajor, threads: kThreads };
}

/** Returns the dispatch of a shader whose main function is that of `forEachLane`; `make` makes it for a choice of lanes. */
export function dispatchOfLanes(
  lanes: Lanes,
  positions: number,
  make: (lanes: Lanes) => Omit<Dispatch, "workgroups">,
): Dispatch {
  const made = make(lanes);
  return {
    ...made,
    key: `${made.key} ${lanesKey(lanes)}`,
    workgroups: workgroups(Math.ceil(positions / (lanes.threads / lanes.lanes))),
    narrowed: (threads) => {
      const fewer = narrowedLanes(lanes, threads);
      return fewer && dispatchOfLanes(fewer, positions, make);
    },
  };
}

/** So many neighboring positions are read together, in 32 bytes at least. */
const kNeighbors = 8;

// Lanes of workgroups of so many invocations. A row keeps its lanes; of columns, at least a few neighbors stay together.
function narrowedLanes({ lanes, isRowMajor }: Lanes, threads: number): Lanes | undefined {
  if (isRowMajor) return lanes <= threads ? { lanes, isRowMajor, threads } : undefined;
  return { lanes: Math.max(1, Math.min(lanes, threads / kNeighbors)), isRowMajor, threads };
}

function lanesKey({ lanes, isRowMajor, threads }: Lanes): string {
  return `${lanes}${isRowMajor ? "r" : "c"}${threads}`;
}

/**
 * Returns a main function that runs `work` in every invocation with `lane` (below kLanes) and `position`. If `is_inside` is
 * false, the invocation has no position of its own: it must take part in barriers but must not write.
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

/** An operation that combines the values of two lanes. */
export interface Combination {
  /** A WGSL type that workgroup variables can have. */
  readonly type: string;
  /** The WGSL expression that combines `a` and `b`, in this order. */
  readonly text: string;
}

/** Returns a function `name(thread, value)` that combines the values of all lanes of a position and returns the result to each. */
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
