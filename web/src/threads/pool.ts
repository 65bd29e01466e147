// The pool of the engine's own workers: a task of spawn() for a module is assigned to an idle worker, or queued.
//
// At most `init({ spawnWorkers })` workers are active. A worker whose function waits for its own spawn() call does not count as
// active, and another worker may run in its place, so nested calls cannot deadlock. Queued tasks with the greatest nesting depth
// are assigned first, which keeps the number of waiting workers small.

import { kMaxThreads } from "../engine/init_options.js";
import { spawnWorkers, startedModule } from "../engine/lifecycle.js";
import { checked, native } from "../runtime/bridge/bridge.js";
import { EdgeGradError, fail } from "../runtime/errors/errors.js";
import { startTimeout } from "../runtime/host/timeout.js";
import {
  EngineWorker,
  kAborted,
  type Request,
  refuse,
  type Task,
  type WorkerListener,
} from "./engine_worker.js";
import { release } from "./portable.js";

/** A worker that has been idle for this long ends. */
const kIdleTime = 5000; // ms

/** If queued tasks get no worker for this long, a warning says that functions may be waiting for each other. */
const kLongWait = 10_000; // ms

/** Each worker runs a separate JavaScript engine; with more of them the process crashes. The same limit as in `init()`. */
const kMaxWorkers = kMaxThreads;

/** Idle workers that have ended unnoticed may get the same task one after the other, but no more of them. */
const kMostTries = 4;

interface QueuedTask extends Task {
  /** How many workers have ended before they began it. */
  readonly tries?: number;
}

/** The workers of one engine. @internal */
export class Pool implements WorkerListener {
  private readonly workers = new Set<EngineWorker>();
  private idleWorkers: EngineWorker[] = [];
  /** The queued tasks by nesting depth. */
  private queues: QueuedTask[][] = [];
  private stopWatching: (() => void) | undefined;
  private hasWarned = false;
  private hasEnded = false;

  constructor(private readonly serve: (worker: EngineWorker, request: Request) => void) {}

  /** Makes a task fail that is queued or that a worker has, unless it has ended. */
  cancel(matches: (task: Task) => boolean): void {
    const [queue] = this.queues.filter((queue) => queue.some(matches));
    if (queue === undefined) {
      for (const worker of this.workers) if (worker.cancel(matches)) return;
      return;
    }
    const [task] = queue.splice(queue.findIndex(matches), 1);
    const text = `[spawn] the call did not start: ${kAborted}.`;
    refuse(task as Task, new EdgeGradError("Internal", text));
  }

  /** Runs a task now or later; throws if its arguments cannot be sent or no worker can be started. */
  add(task: QueuedTask): void {
    const worker = this.takeWorker();
    if (worker !== null) {
      this.start(worker, task);
      return;
    }
    this.queues[task.depth] ??= [];
    this.queues[task.depth]?.push(withCopies(task));
    this.watch();
  }

  /** Assigns queued tasks after a worker's function has started or stopped waiting. */
  pump(): void {
    this.assignTasks();
    this.stopWatching?.();
    this.stopWatching = undefined;
    this.watch();
  }

  private assignTasks(): void {
    for (;;) {
      const queue = this.deepestQueue();
      if (queue === undefined) return;
      try {
        const worker = this.takeWorker();
        if (worker === null) return;
        attempt(queue, (task) => this.start(worker, task));
      } catch (error) {
        attempt(queue, () => {
          throw error;
        });
      }
    }
  }

  /** Ends all workers. */
  end(reason: string): void {
    this.hasEnded = true;
    const waiting = this.queues.flat();
    this.queues = [];
    for (const worker of [...this.workers]) void worker.end(reason);
    for (const task of waiting) {
      refuse(task, new EdgeGradError("Internal", `[spawn] the call did not start: ${reason}.`));
    }
  }

  idle(worker: EngineWorker): void {
    this.idleWorkers.push(worker);
    worker.afterIdle(kIdleTime, () => {
      this.idleWorkers = this.idleWorkers.filter((other) => other !== worker);
      worker.leave();
    });
    this.pump();
  }

  ended(worker: EngineWorker): void {
    this.workers.delete(worker);
    this.idleWorkers = this.idleWorkers.filter((other) => other !== worker);
    this.forget(worker);
    this.pump();
  }

  requested(worker: EngineWorker, request: Request): void {
    this.serve(worker, request);
    this.pump();
  }

  aborted(worker: EngineWorker, request: number): void {
    this.cancel((task) => task.requester === worker && task.request === request);
  }

  /** Runs a task on another worker. */
  didNotBegin(task: QueuedTask, error: EdgeGradError): void {
    const tries = (task.tries ?? 0) + 1;
    const isWanted = !this.hasEnded && task.requester?.hasEnded !== true;
    try {
      if (!isWanted || !task.areCopies || tries === kMostTries) throw error;
      this.add({ ...task, tries });
    } catch (failure) {
      refuse(task, failure);
    }
  }

  /** Removes the queued tasks of a worker that has ended. */
  forget(requester: EngineWorker): void {
    this.queues = this.queues.map((queue) =>
      queue.filter((task) => {
        if (task.requester === requester) release(task.args.handles);
        return task.requester !== requester;
      }),
    );
  }

  // Functions that wait for each other, as at a barrier, wait forever if one of them never gets a worker. Only this warning
  // reveals that.
  private watch(): void {
    if (this.hasWarned || this.stopWatching !== undefined || this.deepestQueue() === undefined)
      return;
    this.stopWatching = startTimeout(kLongWait, () => {
      this.stopWatching = undefined;
      this.warn(this.queues.flat().length);
    });
  }

  private warn(count: number): void {
    if (count === 0) return;
    this.hasWarned = true;
    const workers = Math.min(spawnWorkers() + count, kMaxWorkers);
    try {
      console.warn(
        `edgegrad: [spawn] all ${spawnWorkers()} workers have been busy for ${kLongWait / 1000} s; queued calls: ${count}. ` +
          `Functions that wait for each other need one worker each: init({ spawnWorkers: ${workers} }).`,
      );
    } catch {
      // An error thrown by the console would be uncaught in this timer and end the process.
    }
  }

  private deepestQueue(): QueuedTask[] | undefined {
    while (this.queues.length > 0 && !this.queues.at(-1)?.length) this.queues.pop();
    return this.queues.at(-1);
  }

  // Returns a worker for a task, or null if one will become free later.
  private takeWorker(): EngineWorker | null {
    const active = [...this.workers].filter((worker) => worker.isActive).length;
    if (active >= spawnWorkers()) return null;
    const idle = this.idleWorkers.pop();
    if (idle !== undefined) return idle;
    try {
      return this.startWorker();
    } catch (error) {
      if (active > 0) return null;
      throw error;
    }
  }

  private startWorker(): EngineWorker {
    if (this.workers.size >= kMaxWorkers) {
      const text = `all ${kMaxWorkers} workers run functions that wait for their own spawn() calls, and there can be no more workers.`;
      fail(
        "OutOfMemory",
        "spawn",
        `${text} Nest fewer calls: let functions return the work to do next.`,
      );
    }
    const thread = checked(native.startThread());
    const worker = startedModule().PThread?.pthreads[thread];
    if (worker === undefined) fail("Internal", "spawn", "the new thread has no worker.");
    const started = new EngineWorker(worker, this);
    started.connect(thread);
    this.workers.add(started);
    return started;
  }

  private start(worker: EngineWorker, task: Task): void {
    try {
      worker.run(task);
    } catch (error) {
      if (!worker.hasEnded) this.idle(worker);
      throw error;
    }
  }
}

/** Takes the next task from a queue and passes it to `run`; if that throws, the task fails. */
function attempt(queue: QueuedTask[], run: (task: Task) => void): void {
  const task = queue.shift() as QueuedTask;
  try {
    run(task);
  } catch (error) {
    refuse(task, error);
  }
}

// The copies keep later changes by the caller out of the message. The oldest supported JavaScript engines lack structuredClone();
// there, a worker gets the values as they are when it takes the task.
function withCopies(task: QueuedTask): QueuedTask {
  const { args } = task;
  const values = globalThis.structuredClone?.(args.values);
  return values === undefined ? task : { ...task, args: { ...args, values }, areCopies: true };
}
