// In an engine worker: finds the engine of the main thread, and runs jobs with tensors.
// The other half is bindings/worker.js.

import { joinModule } from "../engine/lifecycle.js";
import { isStarted } from "../runtime/bridge.js";
import type { NativeModule } from "../runtime/native.js";
import { scope } from "../tensor/scope.js";
import { type Portable, receive, send } from "./portable.js";

/** A function that runs in a worker. */
export type WorkerFunction = (...args: never[]) => unknown;

/** What the two halves know of each other. @internal */
export interface Host {
  /** Set when the thread has started. */
  module?: NativeModule;
  run: ((fn: WorkerFunction, args: Portable) => Promise<Portable>) | null;
  /** What a worker that the user constructed exposes. */
  readonly functions?: Readonly<Record<string, WorkerFunction>>;
  /** Called when the thread has started. */
  readonly started?: () => void;
}

const kHost = Symbol.for("edgegrad.host");

function hostHere(): Host | undefined {
  return (globalThis as { [kHost]?: Host })[kHost];
}

/** True on a thread that runs functions for eg.spawn(). */
export function isEngineWorker(): boolean {
  return hostHere() !== undefined;
}

/** Takes the engine of the thread that started this worker, if this is one. */
export function joinHost(): void {
  const host = hostHere();
  if (host?.module === undefined || isStarted()) return;
  joinModule(host.module);
  // Two copies of the package in one worker: the first one answers.
  host.run ??= runJob;
}

/** Runs a function with the tensors it was sent, and returns what it returns. @internal */
export async function runJob(fn: WorkerFunction, args: Portable): Promise<Portable> {
  let answer: Portable | undefined;
  await scope(async () => {
    const value = await fn(...(receive(args) as never[]));
    send([value], (portable) => {
      answer = portable;
    });
  });
  return answer as Portable;
}
