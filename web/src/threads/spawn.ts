// eg.spawn(): user modules on threads that share this engine.
//
// A worker runs one job at a time and is kept for the next one, with the modules it has loaded.

import { checked, native } from "../runtime/bridge.js";
import { EdgeGradError, type ErrorCode, fail } from "../runtime/errors.js";
import { untilSettled } from "../runtime/keep_alive.js";
import { addStopListener, startedModule } from "../runtime/lifecycle.js";
import type { ThreadWorker } from "../runtime/native.js";
import { isEngineWorker } from "./host.js";
import { type Portable, receive, send } from "./portable.js";

interface Answer {
  readonly value?: Portable;
  readonly error?: unknown;
  /** Cloning an error keeps neither the name of its class nor its code. */
  readonly name?: unknown;
  readonly code?: unknown;
}

interface Job {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

let idle: EngineWorker[] = [];
let all = new Set<EngineWorker>();

/**
 * Runs an export of an ES module on a thread of its own and returns what it returns. Tensors among
 * the arguments and in the result, also in arrays and plain objects, are shared; other values are
 * cloned. The module imports 'edgegrad' as this same engine. The function's tensors, its
 * arguments included, are freed when it ends, except those it returns and those it gave to keep().
 *
 * `moduleUrl` is absolute, as from `new URL("./worker.js", import.meta.url)`, or relative to the page
 * or, in Node, to the working directory. Fails with what the function throws, with InvalidArgument
 * where there are no threads, and with Internal when the worker ends before the function does.
 */
export async function spawn<T = unknown>(
  moduleUrl: string | { readonly href: string },
  exportName: string,
  ...args: readonly unknown[]
): Promise<T> {
  if (isEngineWorker) {
    fail("InvalidArgument", "spawn", "call it on the thread that called init(), not in a worker.");
  }
  const url = absoluteUrl(moduleUrl);
  const worker = idle.pop() ?? startWorker();
  return (await worker.run(url, exportName, args)) as T;
}

class EngineWorker {
  private readonly port: MessagePort;
  private job: Job | null = null;

  constructor(
    private readonly thread: number,
    private readonly worker: ThreadWorker,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    port1.onmessage = ({ data }) => this.finish(data as Answer);
    unref(port1);
    const died = (reason: string) => this.die(reason);
    // Emscripten's own handler would throw into the void, which ends a Node process.
    worker.onerror = (event) => died(event.message);
    worker.on?.("exit", () => died("it exited"));
    worker.postMessage({ edgegradPort: port2 }, [port2]);
  }

  run(url: string, name: string, args: readonly unknown[]): Promise<unknown> {
    return untilSettled((resolve, reject) => {
      this.job = { resolve, reject };
      try {
        send(args, (portable) => this.port.postMessage({ url, name, args: portable }));
      } catch (error) {
        this.release();
        reject(notPortable(error));
      }
    });
  }

  /** Ends the worker and what it runs. */
  end(reason: string): void {
    this.port.close();
    this.worker.terminate();
    this.die(reason);
  }

  private finish(answer: Answer): void {
    const job = this.release();
    if (answer.value !== undefined) job?.resolve(receive(answer.value)[0]);
    else job?.reject(thrownBy(answer));
  }

  // Gives the job away: the worker is idle.
  private release(): Job | null {
    const { job } = this;
    this.job = null;
    if (all.has(this)) idle.push(this);
    return job;
  }

  private die(reason: string): void {
    if (!all.delete(this)) return;
    idle = idle.filter((worker) => worker !== this);
    native.threadDied(this.thread);
    this.port.close();
    this.worker.terminate();
    this.job?.reject(
      new EdgeGradError("Internal", `[spawn] the worker ended before its function did: ${reason}.`),
    );
    this.job = null;
  }
}

function startWorker(): EngineWorker {
  const thread = checked(native.startThread());
  const worker = startedModule().PThread?.pthreads[thread];
  if (worker === undefined) fail("Internal", "spawn", "the new thread has no worker.");
  if (all.size === 0) addStopListener(endAll);
  const started = new EngineWorker(thread, worker);
  all.add(started);
  return started;
}

function endAll(): void {
  for (const worker of [...all]) worker.end("the engine was shut down");
  all = new Set();
  idle = [];
}

function absoluteUrl(url: string | { readonly href: string }): string {
  if (typeof url !== "string") return url.href;
  if (/^[a-z][a-z0-9+.-]+:/i.test(url)) return url;
  const node = globalThis.process?.getBuiltinModule?.("node:url");
  if (node !== undefined) return node.pathToFileURL(url).href;
  return new URL(url, globalThis.location.href).href;
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
