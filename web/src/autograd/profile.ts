// What each node of a backward call cost: eg.autograd.profile().

import { readNothing } from "../arguments/read.js";
import { native } from "../runtime/bridge.js";
import { type Device, deviceOf } from "../tensor/dtype.js";
import { runInMode } from "./mode.js";

/** One run of one node of the backward graph. As JSON it is an event of a Chrome trace. */
export class ProfileEvent {
  constructor(
    /** The node's name, for example "MulBackward0". */
    readonly name: string,
    readonly sequenceNr: number,
    /** Threads are numbered in the order in which they first ran a node. */
    readonly thread: number,
    readonly device: Device,
    /** Milliseconds since the recording began. */
    readonly start: number,
    /** Milliseconds. */
    readonly duration: number,
  ) {}

  /** The event as chrome://tracing and Perfetto read it, in microseconds. */
  toJSON(): Record<string, unknown> {
    return {
      name: `autograd::engine::evaluate_function: ${this.name}`,
      cat: "backward",
      ph: "X",
      ts: this.start * 1000,
      dur: this.duration * 1000,
      pid: 0,
      tid: this.thread,
      args: { device: this.device, "Sequence number": this.sequenceNr },
    };
  }
}

/** What `profile` returns. */
export interface Profile<T> {
  /** What the function returned. */
  readonly result: T;
  /** What backward calls ran, in the order of their ends; JSON.stringify() makes a Chrome trace of it. */
  readonly events: ProfileEvent[];
}

/** Runs `fn` and records every node that backward calls in it run, on all threads. */
export function profile<T>(fn: () => T, ...rest: []): Profile<T> {
  readNothing("profile", rest);
  const first = native.startProfiler();
  let lines = "";
  const result = runInMode("profile", fn, () => {
    lines = native.stopProfiler(first);
  });
  return { result, events: lines.split("\n").slice(0, -1).map(eventOf) };
}

function eventOf(line: string): ProfileEvent {
  const [name = "", ...fields] = line.split("\t");
  const [sequenceNr = 0, thread = 0, device = 0, start = 0, duration = 0] = fields.map(Number);
  const [from, time] = [start / 1000, duration / 1000];
  return new ProfileEvent(name, sequenceNr, thread, deviceOf(device), from, time);
}
