// profileStep(): the time of a training step by op, layer and thread.

import { autograd, type nn } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { checkModule, type Follower, follow } from "../model/follow.js";
import { profileText } from "./profile_text.js";
import type { TimeRow } from "./time_row.js";

/** The name of the thread that calls ops. */
const kCalls = "JavaScript";

/** One op or node that ran. */
export interface StepEvent {
  /** The name of the op, such as "linear", or of the node of the backward graph, such as "AddmmBackward0". */
  readonly name: string;
  /** The dotted name of the module that called the op, or the op of the node; "" for the root module and for ops outside of it. */
  readonly layer: string;
  /** "forward" for ops of layers and other recorded ops, "backward" for nodes, "other" for the rest, such as those of the optimizer. */
  readonly phase: "forward" | "backward" | "other";
  /** "JavaScript" for ops; for nodes the thread that ran it, such as "thread 0". */
  readonly thread: string;
  /** Its start in milliseconds since the beginning of the step. */
  readonly start: number;
  /** Its duration in milliseconds; on a GPU, the time to record its commands. */
  readonly duration: number;
}

/** The times of a step. `String(profile)` is a table, `JSON.stringify(profile)` a trace for chrome://tracing and Perfetto. */
export class StepProfile {
  /** @internal */
  constructor(
    /** The ops and nodes that ran, in the order of their start. */
    readonly events: readonly StepEvent[],
    /** The time of the whole step in milliseconds, including code outside of ops. */
    readonly time: number,
  ) {}

  /** Returns the time by op, the longest first. */
  byOp(): TimeRow[] {
    return rowsBy(this.events, ({ name }) => name);
  }

  /** Returns the time by layer, forward and backward together, the longest first. */
  byLayer(): TimeRow[] {
    return rowsBy(this.events, ({ layer, phase }) => layer || `(${phase})`);
  }

  /** Returns the time by thread, the longest first. */
  byThread(): TimeRow[] {
    return rowsBy(this.events, ({ thread }) => thread);
  }

  /** Returns the three tables as text. */
  toString(): string {
    const tables = { Op: this.byOp(), Layer: this.byLayer(), Thread: this.byThread() };
    return profileText(tables, this.time);
  }

  /** Returns the events in the format of chrome://tracing and Perfetto, with times in microseconds. */
  toJSON(): Record<string, unknown>[] {
    return this.events.map(({ name, layer, phase, thread, start, duration }) => ({
      name,
      cat: phase,
      ph: "X",
      ts: start * 1000,
      dur: duration * 1000,
      pid: 0,
      tid: thread,
      args: { layer },
    }));
  }
}

/**
 * Runs a training step once (the forward pass of `module`, backward, the optimizer's step) and measures its ops and nodes. Ops are measured
 * on the calling thread, and nodes of backward on the threads that run them. The step must not be async.
 */
export function profileStep(module: nn.Module, step: () => unknown): StepProfile {
  checkModule("profileStep", module);
  if (typeof step !== "function") refuse("profileStep", "step", "a function", step);
  const events: StepEvent[] = [];
  // The layer of each node, by the number of the node.
  const layers = new Map<number, string>();
  // The step begins later than the profile, because the profiler may have to load a part of the engine.
  let stepBegan = 0;
  let time = 0;
  const follower: Follower = {
    op(layer, { op }, results, start) {
      const duration = performance.now() - start;
      const nodes = results.flatMap(({ gradFn }) => gradFn ?? []);
      const phase = layer !== "" || nodes.length > 0 ? "forward" : "other";
      events.push({ name: op, layer, phase, thread: kCalls, start: start - stepBegan, duration });
      for (const { sequenceNr } of nodes) layers.set(sequenceNr, layer);
    },
  };
  const profile = autograd.profile(() => {
    stepBegan = performance.now();
    follow(module, step, follower);
    time = performance.now() - stepBegan;
  });
  for (const node of profile.events) {
    const { name, duration } = node;
    const layer = layers.get(node.sequenceNr) ?? "";
    const start = node.start + profile.began - stepBegan;
    const thread = `thread ${node.thread}`;
    events.push({ name, layer, phase: "backward", thread, start, duration });
  }
  events.sort((a, b) => a.start - b.start);
  return new StepProfile(events, time);
}

function rowsBy(events: readonly StepEvent[], keyOf: (event: StepEvent) => string): TimeRow[] {
  const total = events.reduce((sum, { duration }) => sum + duration, 0) || 1;
  const groups = new Map<string, { calls: number; time: number }>();
  for (const event of events) {
    const group = groups.get(keyOf(event)) ?? { calls: 0, time: 0 };
    groups.set(keyOf(event), group);
    group.calls++;
    group.time += event.duration;
  }
  return [...groups]
    .map(([name, { calls, time }]) => ({ name, calls, time, share: time / total }))
    .sort((a, b) => b.time - a.time);
}
