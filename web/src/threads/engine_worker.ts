// The main thread's side of an engine worker: jobs go to it, answers come back in the same order.

import { startedWorkers } from "../engine/lifecycle.js";
import { epoch, native } from "../runtime/bridge.js";
import { EdgeGradError, type ErrorCode } from "../runtime/errors.js";
import { untilSettled } from "../runtime/keep_alive.js";
import type { ThreadWorker } from "../runtime/native.js";
import { type Portable, receive, send } from "./portable.js";

/** What a worker is asked for: an export of a module, or a function that it exposes. */
export interface Job {
  readonly url: string | null;
  readonly name: string;
}

interface Answer {
  readonly value?: Portable;
  readonly error?: unknown;
  /** Why the worker is about to end. */
  readonly ended?: string;
  /** Cloning an error keeps neither the name of its class nor its code. */
  readonly name?: unknown;
  readonly code?: unknown;
}

interface Pending {
  /** What was sent along; the worker's as soon as it has a thread. */
  readonly handles: readonly number[];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Stands for the threads that are no workers of eg.spawn(). */
const kNoWorker = 0;

/** In this time a worker that was told to end has done so. */
const kTermination = 100; // ms

/** A worker and what it was asked for. @internal */
export class EngineWorker {
  private readonly port: MessagePort;
  private readonly workersPort: MessagePort;
  private readonly pending: Pending[] = [];
  private thread: number | null = null;
  private failure: EdgeGradError | null = null;

  /** `changed` is called when the worker has nothing to do, or has ended. */
  constructor(
    private readonly worker: ThreadWorker,
    private readonly changed: (worker: EngineWorker, isIdle: boolean) => void,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.workersPort = port2;
    port1.onmessage = ({ data }) => this.finish(data as Answer);
    unref(port1);
  }

  /** Gives the worker its jobs, now that it is a thread of the engine. */
  connect(thread: number): void {
    this.thread = thread;
    for (const { handles } of this.pending) this.give(handles);
    startedWorkers()?.watch(this.worker, (reason) => this.end(reason));
    this.worker.postMessage({ edgegradPort: this.workersPort }, [this.workersPort]);
  }

  run(job: Job, args: readonly unknown[]): Promise<unknown> {
    if (this.failure !== null) return Promise.reject(this.failure);
    return untilSettled("spawn", (resolve, reject) => {
      try {
        send(args, (portable, handles) => {
          this.give(handles);
          this.port.postMessage({ ...job, args: portable });
          this.pending.push({ handles, resolve, reject });
        });
      } catch (error) {
        reject(notPortable(error));
        if (this.pending.length === 0) this.changed(this, true);
      }
    });
  }

  /** Ends the worker and what it runs. */
  end(reason: string): void {
    this.fail(
      new EdgeGradError("Internal", `[spawn] the worker ended before its function did: ${reason}.`),
    );
  }

  /** Ends the worker; all that was asked of it fails with this error. */
  async fail(error: EdgeGradError): Promise<void> {
    if (this.failure !== null) return;
    this.failure = error;
    this.changed(this, false);
    const started = epoch;
    if (this.thread !== null) native.threadDied(this.thread);
    this.port.close();
    // A page hears nothing of the end, which may be later.
    await (this.worker.terminate() ?? new Promise((over) => setTimeout(over, kTermination)));
    if (started === epoch) this.releaseAll();
    for (const { reject } of this.pending.splice(0)) reject(error);
  }

  // What was sent belongs to the thread from then on, and what comes from there until it is received.
  private give(handles: readonly number[]): void {
    if (this.thread === null) return;
    for (const handle of handles) native.giveHandle(handle, this.thread);
  }

  private releaseAll(): void {
    if (this.thread !== null) native.releaseHandlesOf(this.thread);
    for (const handle of this.pending.flatMap(({ handles }) => handles)) native.release(handle);
  }

  private finish(answer: Answer): void {
    if (answer.ended !== undefined) {
      this.end(answer.ended);
      return;
    }
    const job = this.pending.shift();
    if (this.pending.length === 0) this.changed(this, true);
    if (answer.value !== undefined) job?.resolve(receive(answer.value, kNoWorker)[0]);
    else job?.reject(thrownBy(answer));
  }
}

function thrownBy({ error, name, code }: Answer): unknown {
  if (!(error instanceof Error) || name !== "EdgeGradError") return error;
  const copy = new EdgeGradError(code as ErrorCode, error.message);
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}

function notPortable(error: unknown): unknown {
  if ((error as { name?: string }).name !== "DataCloneError") return error;
  const { message } = error as Error;
  return new EdgeGradError(
    "InvalidArgument",
    `[spawn] an argument cannot be sent to another thread: ${message} Send tensors (of a model: ` +
      "its stateDict()), plain objects and arrays, and build the rest there.",
  );
}

// Node: what waits for nothing must not keep the process alive.
function unref(port: MessagePort): void {
  (port as { unref?: () => void }).unref?.();
}
