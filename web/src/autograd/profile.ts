// What each node of a backward call cost: eg.autograd.profile().

import { readNothing } from "../arguments/read.js";
import { checkedFor, native } from "../runtime/bridge.js";
import { kFailed } from "../runtime/native.js";
import { type Device, deviceOf } from "../tensor/dtype.js";
import { runInMode } from "./mode.js";

/** One run of one node of the backward graph. As JSON it is an event of a Chrome trace. */
export class ProfileEvent {
  constructor(
    /** The node's name, for example "MulBackward0". */
    readonly name: string,
    /** The node's number in the order of recording. */
    readonly sequenceNr: number,
    /** Threads are numbered in the order in which they first ran a node. */
    readonly thread: number,
    /** Where the node ran. */
    readonly device: Device,
    /** Milliseconds since the recording began. */
    readonly start: number,
    /** Milliseconds. On a device other than the CPU, of writing down what it is to do. */
    readonly duration: number,
    /** Milliseconds that the device itself took; null on the CPU, and where the device cannot tell. */
    readonly deviceDuration: number | null,
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
      args: {
        device: this.device,
        "Sequence number": this.sequenceNr,
        ...(this.deviceDuration !== null && { "Device time (ms)": this.deviceDuration }),
      },
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

/**
 * Runs `fn` and records every node that backward calls in it run, on all threads. Where a device tells its own
 * times this waits for it.
 */
export function profile<T>(fn: () => T, ...rest: []): Profile<T> {
  readNothing("profile", rest);
  const first = native.startProfiler();
  let outcome = kFailed;
  const result = runInMode("profile", fn, () => {
    outcome = native.stopProfiler(first);
  });
  checkedFor("profile", outcome);
  return { result, events: native.profiled().split("\n").slice(0, -1).map(eventOf) };
}

function eventOf(line: string): ProfileEvent {
  const [name = "", ...fields] = line.split("\t");
  const [sequenceNr = 0, thread = 0, device = 0, start = 0, duration = 0, there = -1] =
    fields.map(Number);
  const [from, time] = [start / 1000, duration / 1000];
  const deviceTime = there < 0 ? null : there / 1000;
  return new ProfileEvent(name, sequenceNr, thread, deviceOf(device), from, time, deviceTime);
}
