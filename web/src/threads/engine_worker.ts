// The main thread's side of an engine worker: jobs go to it, answers come back in the same order.

import { native } from "../runtime/bridge.js";
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
    // Emscripten's own handler would throw into the void, which ends a Node process.
    this.worker.onerror = (event) => this.end(event.message);
    this.worker.on?.("exit", () => this.end("it exited"));
    this.worker.postMessage({ edgegradPort: this.workersPort }, [this.workersPort]);
  }

  run(job: Job, args: readonly unknown[]): Promise<unknown> {
    if (this.failure !== null) return Promise.reject(this.failure);
    return untilSettled((resolve, reject) => {
      try {
        send(args, (portable, handles) => {
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
  fail(error: EdgeGradError): void {
    if (this.failure !== null) return;
    this.failure = error;
    this.changed(this, false);
    if (this.thread !== null) native.threadDied(this.thread);
    this.port.close();
    this.worker.terminate();
    for (const { handles, reject } of this.pending.splice(0)) {
      if (this.thread === null) for (const handle of handles) native.release(handle);
      reject(error);
    }
  }

  private finish(answer: Answer): void {
    const job = this.pending.shift();
    if (this.pending.length === 0) this.changed(this, true);
    if (answer.value !== undefined) job?.resolve(receive(answer.value)[0]);
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
