// In an engine worker: finds the engine of the main thread, and runs jobs with tensors.
// The other half is bindings/worker.js.

import { joinModule } from "../runtime/lifecycle.js";
import type { NativeModule } from "../runtime/native.js";
import { scope } from "../tensor/scope.js";
import { type Portable, receive, send } from "./portable.js";

interface Host {
  readonly module: NativeModule;
  run: ((fn: (...args: unknown[]) => unknown, args: Portable) => Promise<Portable>) | null;
}

const kHost = Symbol.for("edgegrad.host");

/** True on a thread that eg.spawn() started. */
export const isEngineWorker = kHost in globalThis;

/** Takes the engine of the thread that started this worker, if this is one. */
export function joinHost(): void {
  const host = (globalThis as { [kHost]?: Host })[kHost];
  if (host === undefined) return;
  joinModule(host.module);
  // Two copies of the package in one worker: the first one answers.
  host.run ??= run;
}

async function run(fn: (...args: unknown[]) => unknown, args: Portable): Promise<Portable> {
  let answer: Portable | undefined;
  await scope(async () => {
    const value = await fn(...receive(args));
    send([value], (portable) => {
      answer = portable;
    });
  });
  return answer as Portable;
}
