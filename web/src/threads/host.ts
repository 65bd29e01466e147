// In an engine worker: finds the engine of the main thread, and runs jobs with tensors.
// The other half is bindings/worker.js.

import { joinModule } from "../engine/lifecycle.js";
import { detach, isStarted } from "../runtime/bridge.js";
import { holdsValues } from "../runtime/callbacks.js";
import { isWaiting } from "../runtime/keep_alive.js";
import type { NativeModule } from "../runtime/native.js";
import { scope } from "../tensor/scope.js";
import type { Answer } from "./engine_worker.js";
import { type Portable, receive, send } from "./portable.js";

/** A function that runs in a worker. */
export type WorkerFunction = (...args: never[]) => unknown;

/** What the two halves know of each other. @internal */
export interface Host {
  /** Set when the thread has started. */
  module?: NativeModule;
  run: ((fn: WorkerFunction, args: Portable, post: Post) => Promise<void>) | null;
  /** What a worker that the user constructed exposes. */
  readonly functions?: Readonly<Record<string, WorkerFunction>>;
  /** Called when the thread has started. */
  readonly started?: () => void;
  /** To the thread that called init(). */
  readonly port?: MessagePort;
  /** Who waits for the outcome of a spawn() here, by its number. */
  readonly replies?: Map<number, (answer: Answer) => void>;
  /** The copies of this package that the modules of this worker have loaded. */
  readonly copies?: Copy[];
}

type Post = (result: Portable) => void;

interface Copy {
  /** False while other threads may call something of this one, or something is waited for here. */
  mayLeave(): boolean;
  /** The thread ends: nothing may call C++ any more, finalizers neither. */
  leave(): void;
}

const kHost = Symbol.for("edgegrad.host");

/** What bindings/worker.js left here, in a worker. @internal */
export function hostHere(): Host | undefined {
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
  host.copies?.push({ mayLeave: () => !holdsValues() && !isWaiting(), leave: detach });
}

/** Runs a function with the tensors it was sent, and posts what it returns. @internal */
export async function runJob(fn: WorkerFunction, args: Portable, post: Post): Promise<void> {
  await scope(async () => {
    const value = await fn(...(receive(args) as never[]));
    send([value], post);
  });
}
