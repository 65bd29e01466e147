// In an engine worker: connects to the engine of the main thread, and runs jobs with tensors.
// The other half is in bindings/worker.js.

import { joinModule } from "../engine/lifecycle.js";
import { detach, isStarted } from "../runtime/bridge/bridge.js";
import { holdsValues } from "../runtime/bridge/callbacks.js";
import type { NativeModule } from "../runtime/bridge/native.js";
import { isWaiting } from "../runtime/threads/keep_alive.js";
import { scope } from "../tensor/scope.js";
import type { Answer } from "./engine_worker.js";
import { type Portable, receive, send } from "./portable.js";

/** A function that runs in a worker. */
export type WorkerFunction = (...args: never[]) => unknown;

/** The interface between the two halves. @internal */
export interface Host {
  /** Set when the thread has started. */
  module?: NativeModule;
  run: ((fn: WorkerFunction, args: Portable, post: Post) => Promise<void>) | null;
  /** The functions that a worker constructed by the user exposes. */
  readonly functions?: Readonly<Record<string, WorkerFunction>>;
  /** Called when the thread has started. */
  readonly started?: () => void;
  /** The port to the thread that called init(). */
  readonly port?: MessagePort;
  /** The callbacks of pending spawn() calls on this thread, by request number. */
  readonly replies?: Map<number, (answer: Answer) => void>;
  /** The copies of this package that the modules of this worker have loaded. */
  readonly copies?: Copy[];
}

type Post = (result: Portable) => void;

interface Copy {
  /** False while other threads may call functions of this one, or a promise is pending here. */
  mayLeave(): boolean;
  /** Called when the thread ends: from then on nothing, including finalizers, may call C++. */
  leave(): void;
}

const kHost = Symbol.for("edgegrad.host");

/** Returns the host object that bindings/worker.js set in a worker; undefined on other threads. @internal */
export function hostHere(): Host | undefined {
  return (globalThis as { [kHost]?: Host })[kHost];
}

/** True on a thread that runs functions for eg.spawn(). */
export function isEngineWorker(): boolean {
  return hostHere() !== undefined;
}

/** In a worker, connects to the engine of the thread that started it; has no effect on other threads. */
export function joinHost(): void {
  const host = hostHere();
  if (host?.module === undefined || isStarted()) return;
  joinModule(host.module);
  // If a worker has loaded two copies of the package, the first one runs the jobs.
  host.run ??= runJob;
  host.copies?.push({ mayLeave: () => !holdsValues() && !isWaiting(), leave: detach });
}

/** Runs a function with arguments that were sent to this thread, and posts its result. @internal */
export async function runJob(fn: WorkerFunction, args: Portable, post: Post): Promise<void> {
  await scope(async () => {
    const value = await fn(...(receive(args) as never[]));
    send([value], post);
  });
}
