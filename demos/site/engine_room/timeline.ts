// The state of all nodes at each moment of a recording. Starts and ends were measured, and are relative to the first start. The
// time at which a node became ready is derived: the end of the last of the nodes that compute its gradients.

import type { Recording, Run } from "./recording.js";

export type State = "waiting" | "ready" | "running" | "done";

/** A run, with the time at which the node became ready. */
export interface TimedRun extends Run {
  readonly ready: number;
  readonly end: number;
}

// The displayed duration (ms) of nodes that took less than a tick of the clock, so that they are visible.
const kShortest = 0.001;

/** The runs of one thread for one device, which serves one queue. */
export interface Lane {
  readonly title: string;
  readonly runs: readonly TimedRun[];
}

export class Timeline {
  readonly runs: readonly TimedRun[];
  readonly lanes: readonly Lane[];
  /** All times at which something starts or ends, in order. */
  readonly moments: readonly number[];
  readonly #byNode: ReadonlyMap<number, readonly TimedRun[]>;

  constructor({ runs, edges }: Recording) {
    const timed = oneByOne(runs);
    const endOf = new Map(timed.map((run) => [keyOf(run), run.end]));
    const sources = groupedBy(edges, ({ to }) => to);
    this.runs = timed
      .map((run) => {
        const ends = (sources.get(run.node) ?? []).map(({ from }) =>
          endOf.get(keyOf({ node: from, pass: run.pass })),
        );
        const known = ends.filter((end) => end !== undefined);
        // It is unknown for the first node of a call. The end of a node is measured slightly after it has passed on its results.
        const ready = known.length === 0 ? run.start : Math.min(run.start, Math.max(...known));
        return { ...run, ready };
      })
      .sort((a, b) => a.start - b.start);
    this.lanes = lanesOf(this.runs);
    const moments = this.runs.flatMap(({ start, end }) => [start, end]);
    this.moments = [...new Set([0, ...moments])].sort((a, b) => a - b);
    this.#byNode = groupedBy(this.runs, ({ node }) => node);
  }

  get end(): number {
    return this.moments.at(-1) ?? 0;
  }

  runsOf(node: number): readonly TimedRun[] {
    return this.#byNode.get(node) ?? [];
  }

  /** The state of a node; if it runs several times, the most active state counts. */
  stateOf(node: number, time: number): { state: State; lane: number } {
    const runs = this.runsOf(node).map((run) => ({
      state: stateOf(run, time),
      lane: this.lanes.findIndex((lane) => lane.runs.includes(run)),
    }));
    const order: readonly State[] = ["running", "ready", "done", "waiting"];
    for (const state of order) {
      const found = runs.find((run) => run.state === state);
      if (found !== undefined) return found;
    }
    return { state: "waiting", lane: 0 };
  }

  /** The runs of a lane that are ready, in the order in which they will run. */
  queueOf(lane: Lane, time: number): readonly TimedRun[] {
    return lane.runs.filter((run) => stateOf(run, time) === "ready");
  }
}

export function stateOf({ ready, start, end }: TimedRun, time: number): State {
  if (time >= end) return "done";
  if (time >= start) return "running";
  return time >= ready ? "ready" : "waiting";
}

// Makes times relative to the first start, and separates the nodes that a thread ran within one tick of the clock.
function oneByOne(runs: readonly Run[]): (Run & { end: number })[] {
  const begin = Math.min(...runs.map(({ start }) => start));
  const busyUntil = new Map<number, number>();
  const inOrder = [...runs].sort((a, b) => a.start - b.start);
  return inOrder.map((run) => {
    const start = Math.max(run.start - begin, busyUntil.get(run.thread) ?? 0);
    const end = Math.max(run.start - begin + run.duration, start + kShortest);
    busyUntil.set(run.thread, end);
    return { ...run, start, end };
  });
}

function keyOf({ node, pass }: Pick<Run, "node" | "pass">): string {
  return `${node} ${pass}`;
}

function lanesOf(runs: readonly TimedRun[]): Lane[] {
  const groups = groupedBy(runs, ({ thread, device }) => `${device} ${thread}`);
  return [...groups.values()].map((own) => {
    const [{ device, thread }] = own as [TimedRun, ...TimedRun[]];
    const name = device === "cpu" ? "CPU" : "WebGPU";
    return { title: `${name} · thread ${thread}`, runs: own };
  });
}

// Like Map.groupBy(), which browsers only have since 2024.
function groupedBy<T, Key>(values: readonly T[], key: (value: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const value of values) {
    const group = groups.get(key(value)) ?? [];
    group.push(value);
    groups.set(key(value), group);
  }
  return groups;
}
