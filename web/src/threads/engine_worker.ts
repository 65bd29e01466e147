// The main thread's side of an engine worker: it sends tasks and receives the answers in the same order. How a worker is ended is in
// termination.ts.

import { startedModule, startedWorkers } from "../engine/lifecycle.js";
import { native } from "../runtime/bridge/bridge.js";
import type { ThreadWorker } from "../runtime/bridge/native.js";
import { EdgeGradError, type ErrorCode } from "../runtime/errors/errors.js";
import { clearTimeout, setTimeout } from "../runtime/host/host.js";
import { nodeProcess } from "../runtime/host/node.js";
import { startTimeout } from "../runtime/host/timeout.js";
import { unref } from "../runtime/threads/keep_alive.js";
import { type Claim, openClaim, takeBack } from "./claim.js";
import { give, type Portable, release } from "./portable.js";
import { Termination } from "./termination.js";

/** A function for a worker to run: an export of a module, or a function that the worker exposes. */
export interface Task {
  readonly url: string | null;
  readonly name: string;
  /** The arguments; their handles belong to no worker until the task is assigned to one. */
  readonly args: Portable;
  /** Whether nobody else can change the values of the arguments, so that they can be sent a second time. */
  readonly areCopies: boolean;
  /** The worker whose function made the request; null for a call of the main thread. */
  readonly requester: EngineWorker | null;
  /** The number of that request. */
  readonly request?: number;
  /** The nesting depth: how many tasks in a chain wait for this one. */
  readonly depth: number;
  /** Called once, with the worker's answer, whose handles belong to no worker. */
  readonly settle: (answer: Answer) => void;
}

/** The outcome of a task. */
export interface Answer {
  readonly value?: Portable;
  readonly error?: unknown;
  /** The error's class name and code, which structured cloning does not preserve. */
  readonly name?: unknown;
  readonly code?: unknown;
}

/** A call of spawn() in a worker. */
export interface Request {
  /** The number of the request in the worker. */
  readonly request: number;
  readonly where: string;
  readonly name: string;
  readonly args: Portable;
}

/** A message from a worker. */
interface Message extends Answer {
  /** The worker is ready; `isLocked` tells whether it holds its Web Lock. */
  readonly serves?: boolean;
  readonly isLocked?: boolean;
  /** The worker is about to end, for this reason. */
  readonly ended?: string;
  /** The worker was asked to end but is still needed. */
  readonly stays?: boolean;
  /** The message is a Request. */
  readonly request?: number;
  /** The signal of the request with this number has been given. */
  readonly aborted?: number;
}

/** Receives the events of a worker. */
export interface WorkerListener {
  /** The worker has finished all its tasks. */
  idle(worker: EngineWorker): void;
  /** The worker has ended, or is about to. */
  ended(worker: EngineWorker): void;
  /** A function in the worker has called spawn(). */
  requested(worker: EngineWorker, request: Request): void;
  /** It no longer needs the answer to the request with this number. */
  aborted(worker: EngineWorker, request: number): void;
  /** The worker has ended with this error before it began a task. If this is missing, the task fails with the error. */
  didNotBegin?(task: Task, error: EdgeGradError): void;
}

/** The owner of handles that belong to no worker of eg.spawn(). */
const kNoWorker = 0;

/** Why a task fails whose signal has been given. Its caller gets the signal's reason instead. */
export const kAborted = "a call was aborted by its signal";

/** When a worker is terminated, its pending tasks fail after at most this time, even if it is still running. */
const kTerminationTimeout = 100; // ms

/** The time within which a worker must have loaded its script. */
const kStartTimeout = 60_000; // ms

interface SentTask {
  readonly task: Task;
  readonly claim: Claim;
}

/** A worker and its tasks. @internal */
export class EngineWorker {
  /** The number of pending spawn() calls made in the worker. */
  requests = 0;
  private readonly port: MessagePort;
  private readonly workersPort: MessagePort;
  private readonly pending: SentTask[] = [];
  private readonly termination: Termination;
  private failure: EdgeGradError | null = null;
  private stopStartTimeout = () => {};
  private idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the worker has been terminated, as far as that can be known. */
  private released: Promise<void> = Promise.resolve();

  constructor(
    private readonly worker: ThreadWorker,
    private readonly listener: WorkerListener,
  ) {
    this.termination = new Termination(worker);
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.workersPort = port2;
    port1.onmessage = ({ data }) => this.handleMessage(data as Message);
    unref(port1);
  }

  /** True if the worker has a task that is not waiting for a spawn() of its own. */
  get isActive(): boolean {
    return this.pending.length > 0 && this.requests === 0;
  }

  /** True once the worker has ended, or is about to. */
  get hasEnded(): boolean {
    return this.failure !== null;
  }

  /** The nesting depth of the running task. */
  get depth(): number {
    return this.pending[0]?.task.depth ?? 0;
  }

  /** Connects the worker, which is now a thread of the engine, so that it receives its tasks. */
  connect(thread: number): void {
    this.termination.thread = thread;
    for (const { task } of this.pending) give(task.args.handles, thread);
    startedWorkers()?.watch(this.worker, (reason, hasExited) => {
      void this.end(reason, hasExited);
    });
    const { workersPort, termination } = this;
    const { lock } = termination;
    this.worker.postMessage({ edgegradPort: workersPort, lock }, [workersPort]);
    const text = `it did not start within ${kStartTimeout / 1000} s`;
    this.stopStartTimeout = startTimeout(kStartTimeout, () => {
      void this.end(text);
    });
  }

  /** Sends a task to the worker; throws if its arguments cannot be sent. */
  run(task: Task): void {
    if (this.failure !== null) throw this.failure;
    clearTimeout(this.idleTimer);
    const { url, name, args } = task;
    const claim = openClaim();
    this.port.postMessage({ url, name, args, claim });
    if (this.thread !== null) give(args.handles, this.thread);
    this.pending.push({ task, claim });
  }

  /**
   * Makes a task fail without an answer. If its function has begun, the worker is terminated, which is the only way to stop it.
   * Returns false if the worker has no such task.
   */
  cancel(matches: (task: Task) => boolean): boolean {
    const index = this.pending.findIndex(({ task }) => matches(task));
    const sent = this.pending[index];
    if (sent === undefined) return false;
    if (!takeBack(sent.claim)) {
      void this.end(kAborted);
      return true;
    }
    this.pending.splice(index, 1);
    give(sent.task.args.handles, kNoWorker);
    refuse(sent.task, new EdgeGradError("Internal", `[spawn] ${kAborted}.`));
    if (this.pending.length === 0) this.listener.idle(this);
    return true;
  }

  /** Sends the answer to a request of the worker. */
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

  /** Calls `then` once the worker has been idle for a time. */
  afterIdle(time: number, then: () => void): void {
    this.idleTimer = setTimeout(then, time);
    unref(this.idleTimer);
  }

  /** Asks the worker to end. If other threads still need it, it becomes idle again instead. */
  leave(): void {
    this.worker.onLeft = () => {
      this.close("the worker was idle and has ended");
      this.listener.ended(this);
    };
    this.port.postMessage({ leave: true });
  }

  /**
   * Terminates the worker and its tasks. `hasExited` tells that it no longer runs. Resolves when it has been terminated, as far as
   * that can be known.
   */
  async end(reason: string, hasExited = false): Promise<void> {
    this.termination.hasExited ||= hasExited;
    if (hasExited && this.failure === null) this.receiveLast();
    const text = `[spawn] the worker ended before its function did: ${reason}.`;
    void this.fail(new EdgeGradError("Internal", text));
    await this.released;
  }

  /** Terminates the worker; its pending tasks fail with this error. */
  async fail(error: EdgeGradError): Promise<void> {
    if (this.failure !== null) return;
    this.close(error);
    startedModule().forgetWorker?.(this.worker);
    const sent = this.pending.splice(0);
    this.listener.ended(this);
    const tasks = sent.filter((call) => !this.passesOn(call, error)).map(({ task }) => task);
    const releaseArguments = () => {
      for (const { args } of tasks) release(args.handles);
    };
    // The tasks fail in any case: handles that cannot be released stay held.
    this.released = this.termination.run(releaseArguments).catch(() => undefined);
    await within(kTerminationTimeout, this.released);
    for (const { settle } of tasks) settle(failureOf(error));
  }

  // A worker that was ready may end while it is idle. Its next task has then not begun, and keeps its handles.
  private passesOn({ task, claim }: SentTask, error: EdgeGradError): boolean {
    const { didNotBegin } = this.listener;
    if (didNotBegin === undefined || !this.isReady || !takeBack(claim)) return false;
    give(task.args.handles, kNoWorker);
    didNotBegin.call(this.listener, task, error);
    return true;
  }

  // Node may tell that a worker has exited before what the worker has sent before that.
  private receiveLast(): void {
    const receive = nodeProcess()?.getBuiltinModule("node:worker_threads").receiveMessageOnPort;
    if (receive === undefined) return;
    type Port = Parameters<typeof receive>[0];
    for (;;) {
      const received = receive(this.port as unknown as Port);
      if (received === undefined) return;
      this.handleMessage(received.message as Message);
    }
  }

  private close(why: EdgeGradError | string): void {
    this.failure = typeof why === "string" ? new EdgeGradError("Internal", `[spawn] ${why}.`) : why;
    this.stopStartTimeout();
    clearTimeout(this.idleTimer);
    if (this.thread !== null) native.threadDied(this.thread);
    this.port.close();
  }

  private get isReady(): boolean {
    return this.termination.isLocked !== undefined;
  }

  /** Null until the worker is a thread of the engine. */
  private get thread(): number | null {
    return this.termination.thread;
  }

  private handleMessage(message: Message): void {
    // Sent before the worker was ended; what it holds is freed with its thread.
    if (this.hasEnded) return;
    if (message.ended !== undefined) void this.end(message.ended);
    else if (message.serves === true) this.serves(message.isLocked === true);
    else if (message.stays === true) this.stays();
    else if (message.request !== undefined) this.requested(message as unknown as Request);
    else if (message.aborted !== undefined) this.listener.aborted(this, message.aborted);
    else this.finish(message);
  }

  private serves(isLocked: boolean): void {
    this.stopStartTimeout();
    this.termination.isLocked = isLocked;
  }

  private stays(): void {
    delete this.worker.onLeft;
    this.listener.idle(this);
  }

  private requested(request: Request): void {
    give(request.args.handles, kNoWorker);
    this.requests++;
    this.listener.requested(this, request);
  }

  private finish(answer: Answer): void {
    give(answer.value?.handles ?? [], kNoWorker);
    const sent = this.pending.shift();
    if (this.pending.length === 0) this.listener.idle(this);
    sent?.task.settle(answer);
  }
}

/** Makes a task fail whose handles belong to no worker. */
export function refuse({ args, settle }: Task, error: unknown): void {
  release(args.handles);
  settle(failureOf(error));
}

/** Returns the answer that a task failed. */
export function failureOf(error: unknown): Answer {
  return error instanceof EdgeGradError ? { error, name: error.name, code: error.code } : { error };
}

/** Returns the error to throw for a task that failed, with its class restored. */
export function thrownBy({ error, name, code }: Answer): unknown {
  if (!(error instanceof Error) || name !== "EdgeGradError") return error;
  const copy = new EdgeGradError(code as ErrorCode, error.message);
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}

async function within(time: number, done: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time);
  });
  await Promise.race([done, over]);
  clearTimeout(timer);
}
