// The main thread's side of an engine worker: tasks go to it, answers come back in the same order.
//
// Handles of tensors belong to threads, and those of a worker are released when it ends. C++ looks handles up without a
// lock, so that must wait until the worker does nothing any more. Node tells when that is. A page is told nothing, and a
// worker runs on for seconds after terminate(): there it holds a lock of the page before it runs anything, which others get
// when it is gone. Where there are no locks, what a worker held is never released.

import { startedModule, startedWorkers } from "../engine/lifecycle.js";
import { epoch, native } from "../runtime/bridge.js";
import { EdgeGradError, type ErrorCode } from "../runtime/errors.js";
import type { ThreadWorker } from "../runtime/native.js";
import { give, type Portable, release } from "./portable.js";

/** What a worker is asked for: an export of a module, or a function that it exposes. */
export interface Task {
  readonly url: string | null;
  readonly name: string;
  /** Their handles belong to no worker until one is given the task. */
  readonly args: Portable;
  /** How many tasks wait for this one, each for the next. */
  readonly depth: number;
  /** Called once, with the worker's answer; handles in it belong to no worker. */
  readonly settle: (answer: Answer) => void;
}

/** What became of a task. */
export interface Answer {
  readonly value?: Portable;
  readonly error?: unknown;
  /** Cloning an error keeps neither the name of its class nor its code. */
  readonly name?: unknown;
  readonly code?: unknown;
}

/** A call of spawn() in a worker. */
export interface Request {
  /** Its number there. */
  readonly request: number;
  readonly where: string;
  readonly name: string;
  readonly args: Portable;
}

/** All that a worker says. */
interface Message extends Answer {
  /** It is ready; on a page, whether it holds its lock. */
  readonly serves?: boolean;
  readonly isLocked?: boolean;
  /** Why the worker is about to end. */
  readonly ended?: string;
  /** It was asked to leave but is still needed. */
  readonly stays?: boolean;
  /** This is a Request. */
  readonly request?: number;
}

/** Who is told what a worker does. */
export interface Employer {
  /** It has done what it was asked for. */
  idle(worker: EngineWorker): void;
  /** It has ended, or is about to. */
  ended(worker: EngineWorker): void;
  /** Its function calls spawn(). */
  requested(worker: EngineWorker, request: Request): void;
}

/** Stands for the threads that are no workers of eg.spawn(). */
const kNoWorker = 0;

/** Who waits for a worker that was ended learns of it in this time, though it may run on. */
const kTermination = 100; // ms

/** In this time a worker has loaded its script. */
const kStartTime = 60_000; // ms

/** A worker and what it was asked for. @internal */
export class EngineWorker {
  /** Calls of spawn() in the worker that have no outcome yet. */
  requests = 0;
  private readonly port: MessagePort;
  private readonly workersPort: MessagePort;
  private readonly pending: Task[] = [];
  private readonly lock = hasLocks() ? `edgegrad-${crypto.randomUUID()}` : undefined;
  private isLocked: boolean | undefined;
  private thread: number | null = null;
  private failure: EdgeGradError | null = null;
  private startTimer: ReturnType<typeof setTimeout> | undefined;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly worker: ThreadWorker,
    private readonly employer: Employer,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.workersPort = port2;
    port1.onmessage = ({ data }) => this.hear(data as Message);
    unref(port1);
  }

  /** What it runs waits for nothing but itself. */
  get isActive(): boolean {
    return this.pending.length > 0 && this.requests === 0;
  }

  /** How many tasks wait for what it runs. */
  get depth(): number {
    return this.pending[0]?.depth ?? 0;
  }

  /** Gives the worker its tasks, now that it is a thread of the engine. */
  connect(thread: number): void {
    this.thread = thread;
    for (const { args } of this.pending) give(args.handles, thread);
    startedWorkers()?.watch(this.worker, (reason) => this.end(reason));
    const { workersPort, lock } = this;
    this.worker.postMessage({ edgegradPort: workersPort, lock }, [workersPort]);
    const text = `it has not started in ${kStartTime / 1000} s`;
    this.startTimer = setTimeout(() => this.end(text), kStartTime);
    unref(this.startTimer);
  }

  /** Has the worker do a task; throws where its arguments cannot be sent. */
  run(task: Task): void {
    if (this.failure !== null) throw this.failure;
    clearTimeout(this.idleTimer);
    const { url, name, args } = task;
    this.port.postMessage({ url, name, args });
    if (this.thread !== null) give(args.handles, this.thread);
    this.pending.push(task);
  }

  /** Tells the worker what became of its request. */
  reply({ request }: Request, answer: Answer): void {
    this.requests--;
    const handles = answer.value?.handles ?? [];
    if (this.failure !== null || this.thread === null) {
      release(handles);
      return;
    }
    give(handles, this.thread);
    this.port.postMessage({ spawned: request, ...answer });
  }

  /** Calls `then` when the worker has had nothing to do for a time. */
  afterIdle(time: number, then: () => void): void {
    this.idleTimer = setTimeout(then, time);
    unref(this.idleTimer);
  }

  /** Has the worker end, unless others need it: then it is idle again. */
  leave(): void {
    this.worker.onLeft = () => {
      this.close("it was not needed any more");
      this.employer.ended(this);
    };
    this.port.postMessage({ leave: true });
  }

  /** Ends the worker and what it runs. */
  end(reason: string): void {
    const text = `[spawn] the worker ended before its function did: ${reason}.`;
    this.fail(new EdgeGradError("Internal", text));
  }

  /** Ends the worker; all that was asked of it fails with this error. */
  async fail(error: EdgeGradError): Promise<void> {
    if (this.failure !== null) return;
    this.close(error);
    const started = epoch;
    startedModule().forgetWorker?.(this.worker);
    const tasks = this.pending.splice(0);
    this.employer.ended(this);
    // Not at once: it may hold a lock of the engine's, which is never free again then, and there may be calls of C++ in this
    // task yet, as for the next worker and the pool when the engine is shut down.
    const gone = Promise.resolve().then(() => this.untilGone().catch(() => false));
    const released = gone.then((isGone) => {
      if (!isGone || started !== epoch) return;
      if (this.thread !== null) native.releaseHandlesOf(this.thread);
      else for (const { args } of tasks) release(args.handles);
    });
    await within(kTermination, released);
    for (const { settle } of tasks) settle(failureOf(error));
  }

  private close(why: EdgeGradError | string): void {
    this.failure = typeof why === "string" ? new EdgeGradError("Internal", `[spawn] ${why}.`) : why;
    clearTimeout(this.startTimer);
    clearTimeout(this.idleTimer);
    if (this.thread !== null) native.threadDied(this.thread);
    this.port.close();
  }

  // Ends the worker; true when it has certainly ended.
  private async untilGone(): Promise<boolean> {
    const terminated = this.worker.terminate();
    if (terminated !== undefined) {
      await terminated;
      return true;
    }
    if (this.thread === null) return true;
    if (this.lock === undefined || this.isLocked === false) return false;
    return await untilFree(this.lock, this.isLocked === true);
  }

  private hear(message: Message): void {
    if (message.ended !== undefined) this.end(message.ended);
    else if (message.serves === true) this.serves(message.isLocked === true);
    else if (message.stays === true) this.stays();
    else if (message.request !== undefined) this.requested(message as unknown as Request);
    else this.finish(message);
  }

  private serves(isLocked: boolean): void {
    clearTimeout(this.startTimer);
    this.isLocked = isLocked;
  }

  private stays(): void {
    delete this.worker.onLeft;
    this.employer.idle(this);
  }

  private requested(request: Request): void {
    give(request.args.handles, kNoWorker);
    this.requests++;
    this.employer.requested(this, request);
  }

  private finish(answer: Answer): void {
    give(answer.value?.handles ?? [], kNoWorker);
    const task = this.pending.shift();
    if (this.pending.length === 0) this.employer.idle(this);
    task?.settle(answer);
  }
}

/** Returns the answer that a task failed. */
export function failureOf(error: unknown): Answer {
  return error instanceof EdgeGradError ? { error, name: error.name, code: error.code } : { error };
}

/** Returns what a task failed with, on the thread where it is thrown. */
export function thrownBy({ error, name, code }: Answer): unknown {
  if (!(error instanceof Error) || name !== "EdgeGradError") return error;
  const copy = new EdgeGradError(code as ErrorCode, error.message);
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}

// Node has them too, but tells when a worker has ended.
function hasLocks(): boolean {
  const isNode = globalThis.process?.getBuiltinModule !== undefined;
  return !isNode && globalThis.navigator?.locks !== undefined;
}

// Resolves when nobody holds the lock. A worker that did not have it yet must not get it any more.
function untilFree(lock: string, isReleased: boolean): Promise<true> {
  return new Promise((resolve, reject) => {
    const granted = () => {
      resolve(true);
      return isReleased ? undefined : new Promise(() => {});
    };
    navigator.locks.request(lock, granted).catch(reject);
  });
}

async function within(time: number, done: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time);
  });
  await Promise.race([done, over]);
  clearTimeout(timer);
}

/** Lets Node end while something is pending: what waits for nothing must not keep the process alive. */
export function unref(source: unknown): void {
  (source as { unref?: () => void }).unref?.();
}
