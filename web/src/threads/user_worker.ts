// A worker that the user constructs and that becomes a thread of the engine. In this way bundlers see `new Worker(new URL(...))`
// and bundle its script. The other half is eg.expose().

import { runtime, startedModule } from "../engine/lifecycle.js";
import { kBorderHash } from "../generated/border.js";
import { checked, native } from "../runtime/bridge/bridge.js";
import type { NativeModule, ThreadWorker } from "../runtime/bridge/native.js";
import { EdgeGradError, fail } from "../runtime/errors/errors.js";
import { startTimeout } from "../runtime/host/timeout.js";
import type { JoinAnswer, JoinMessage } from "./expose.js";

/** A browser's Worker, or a Worker of Node's worker_threads. */
export interface WorkerLike {
  postMessage(message: never, transfer: never): void;
  terminate(): unknown;
}

// The members of both kinds that are used here.
interface AnyWorker {
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
  terminate(): unknown;
  /** In Node; -1 once the worker has ended. */
  readonly threadId?: number;
  addEventListener?(
    type: string,
    listener: (event: { data: unknown; message: string }) => void,
  ): void;
  on?(type: string, listener: (value: never) => void): void;
  unref?(): void;
}

/** The time within which a worker must have called expose(). */
const kJoinTimeout = 60_000; // ms

// The error event of a browser does not tell these causes apart.
const kNotLoaded =
  "its script, or a module that it imports, could not be loaded (a worker does not see its page's import map)";

/**
 * The interface of the worker for Emscripten and the engine. They set handlers on this object, so the worker's own handlers
 * remain free for the user.
 * @internal
 */
export class UserWorker implements ThreadWorker {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  // Never called: all errors and exits are reported to `ended`, both before and after the worker becomes a thread.
  onerror: unknown = null;
  private readonly end: () => unknown;
  private ending: { readonly result: unknown } | undefined;
  private hasEnded: boolean;
  private answered: (answer: JoinAnswer) => void = () => {};

  constructor(
    private readonly worker: AnyWorker,
    onEnd: (reason: string, hasExited: boolean) => Promise<void>,
  ) {
    this.end = worker.terminate.bind(worker);
    this.hasEnded = worker.threadId === -1;
    const ended = (reason: string, hasExited = false) => {
      this.hasBeenEnded();
      return onEnd(reason, hasExited);
    };
    const handleMessage = (data: unknown) => {
      if (typeof data !== "object" || data === null) return;
      if ("edgegradWorker" in data) this.answered(data as JoinAnswer);
      else this.onmessage?.({ data });
    };
    const failed = (error: { message?: string }) => ended(error.message || kNotLoaded);
    if (worker.on !== undefined) {
      worker.on("message", handleMessage);
      worker.on("error", failed);
      worker.on("exit", () => ended("it exited", true));
    } else {
      worker.addEventListener?.("message", ({ data }) => handleMessage(data));
      worker.addEventListener?.("error", failed);
    }
    // Terminated in the middle of a call into the engine, a worker would hold locks for good. And a browser sends no event then.
    worker.terminate = async () => {
      await ended("terminate() was called");
      return await this.terminate();
    };
  }

  postMessage(message: unknown, transfer?: readonly unknown[]): void {
    this.worker.postMessage(message, transfer);
  }

  terminate(): unknown {
    this.hasBeenEnded();
    this.ending ??= { result: this.end() };
    return this.ending.result;
  }

  unref(): void {
    this.worker.unref?.();
  }

  /** Emscripten registers listeners on Node's workers; not needed, since the handlers receive the events. */
  on(): void {}

  /** Throws if the worker has ended. */
  check(): void {
    if (this.hasEnded) fail("Internal", "spawn", "the worker has already ended.");
  }

  // Ends the waiting for an answer of the worker.
  private hasBeenEnded(): void {
    this.hasEnded = true;
    this.answered({ edgegradWorker: "failed", reason: "it has ended" });
  }

  /** Makes the worker load the module's script; resolves when the script is ready for Emscripten's messages. */
  async listening(): Promise<void> {
    const join: JoinMessage = {
      edgegradJoin: { variant: runtime().variant, borderHash: kBorderHash },
    };
    let stopTimeout = () => {};
    const answer = new Promise<void>((resolve, reject) => {
      const refuse = (reason: string) =>
        reject(
          new EdgeGradError("InvalidArgument", `[spawn] the worker cannot be used: ${reason}.`),
        );
      this.answered = ({ edgegradWorker, reason = "" }) => {
        if (edgegradWorker === "exposed") this.postMessage(join);
        if (edgegradWorker === "listening") resolve();
        if (edgegradWorker === "failed") refuse(reason);
      };
      stopTimeout = startTimeout(kJoinTimeout, () => {
        refuse(
          `its script did not call eg.expose({ ... }) within ${kJoinTimeout / 1000} s, or the worker has ended`,
        );
      });
      this.postMessage(join);
    });
    await answer.finally(stopTimeout);
  }
}

/** Makes the worker a thread of the running engine and returns the thread's number. @internal */
export async function startThreadOn(worker: UserWorker, module: NativeModule): Promise<number> {
  const { PThread } = module;
  // In a build without threads, this call fails with the reason.
  if (PThread === undefined) return checked(native.startThread());
  worker.check();
  await worker.listening();
  await PThread.loadWasmModuleToWorker(worker);
  worker.check();
  if (startedModule() !== module) fail("Internal", "spawn", "the engine was shut down.");
  PThread.unusedWorkers.push(worker);
  return checked(native.startThread());
}
