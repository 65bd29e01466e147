// eg.autograd.profile(): measuring the time of each node of backward calls.

import { readNothing } from "../arguments/read.js";
import { checkedFor, native } from "../runtime/bridge/bridge.js";
import { kFailed } from "../runtime/bridge/native.js";
import { now } from "../runtime/host/host.js";
import { type Device, deviceOf } from "../tensor/dtype.js";
import { runInMode } from "./mode.js";

/** One execution of a node of the backward graph. Its JSON form is an event of a Chrome trace. */
export class ProfileEvent {
  constructor(
    /** The node's name, for example "MulBackward0". */
    readonly name: string,
    /** The node's number in the order in which operations were recorded. */
    readonly sequenceNr: number,
    /** The number of the thread; threads are numbered in the order in which they first ran a node. */
    readonly thread: number,
    /** The device that the node ran on. */
    readonly device: Device,
    /** The start, in milliseconds since this profile began. */
    readonly start: number,
    /** The duration in milliseconds. On a device other than the CPU, this is the time to record its commands. */
    readonly duration: number,
    /** The time in milliseconds on the device itself; null on the CPU and if the device cannot measure it. */
    readonly deviceDuration: number | null,
  ) {}

  /** Returns the event in the format of chrome://tracing and Perfetto, with times in microseconds. */
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

/** The result of `profile`. */
export interface Profile<T> {
  /** The value that the function returned. */
  readonly result: T;
  /** When the profile began, by performance.now(). */
  readonly began: number;
  /** The executed nodes, in the order in which they ended. JSON.stringify() of this array is a Chrome trace. */
  readonly events: ProfileEvent[];
}

/**
 * Runs `fn` and records every node that its backward calls run, on all threads. If a device measures its own
 * times, this waits for the device.
 */
export function profile<T>(fn: () => T, ...rest: []): Profile<T> {
  readNothing("profile", rest);
  const began = now();
  const first = native.startProfiler();
  let outcome = kFailed;
  let origin = began;
  const result = runInMode("profile", fn, () => {
    origin = engineOrigin();
    outcome = native.stopProfiler(first);
  });
  checkedFor("profile", outcome);
  const lines = native.profiled().split("\n").slice(0, -1);
  return { result, began, events: lines.map((line) => eventOf(line, origin - began)) };
}

/**
 * Returns when the engine's clock was at 0, by performance.now(): by the best of five readings, because a thread may lose its core
 * between the two clocks.
 */
function engineOrigin(): number {
  let [origin, shortest] = [0, Number.POSITIVE_INFINITY];
  for (let i = 0; i < 5; i++) {
    const before = now();
    const engine = native.profilerNow();
    const took = now() - before;
    if (took >= shortest) continue;
    [origin, shortest] = [before + took / 2 - engine / 1000, took];
  }
  return origin;
}

/** Reads an event. `offset` is when the engine's clock was at 0, in milliseconds since the profile began. */
function eventOf(line: string, offset: number): ProfileEvent {
  const [name = "", ...fields] = line.split("\t");
  const [sequenceNr = 0, thread = 0, device = 0, start = 0, duration = 0, there = -1] =
    fields.map(Number);
  const [from, time] = [Math.max(0, start / 1000 + offset), duration / 1000];
  const deviceTime = there < 0 ? null : there / 1000;
  return new ProfileEvent(name, sequenceNr, thread, deviceOf(device), from, time, deviceTime);
}
