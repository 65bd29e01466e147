// The engine's own workers: what spawn() asks of modules goes to one that has nothing to do, or waits its turn.
//
// At most `init({ spawnWorkers })` are active. One whose function waits for a spawn() of its own is not, and its place is
// taken by another, so that functions that wait for each other's ends never lock up. What was asked for by the deepest
// function goes first: then few have to wait at once.

import { kMaxThreads } from "../engine/init_options.js";
import { spawnWorkers, startedModule } from "../engine/lifecycle.js";
import { checked, native } from "../runtime/bridge.js";
import { EdgeGradError, fail } from "../runtime/errors.js";
import {
  type Employer,
  EngineWorker,
  failureOf,
  type Request,
  type Task,
  unref,
} from "./engine_worker.js";
import { release } from "./portable.js";

/** A worker that has had nothing to do for so long ends. */
const kIdleTime = 5000; // ms

/** After so long without a worker for what waits, it is said that functions may be waiting for each other. */
const kLongWait = 10_000; // ms

/** Each is a JavaScript engine of its own; more of them end the process. As many as `init()` takes. */
const kMostWorkers = kMaxThreads;

interface Waiting {
  readonly task: Task;
  /** Whose function asked for it. */
  readonly worker: EngineWorker | null;
}

/** The workers of one engine. @internal */
export class Pool implements Employer {
  private readonly workers = new Set<EngineWorker>();
  private idleWorkers: EngineWorker[] = [];
  /** By how many tasks wait for them. */
  private queues: Waiting[][] = [];
  private watchTimer: ReturnType<typeof setTimeout> | undefined;
  private hasWarned = false;

  constructor(private readonly serve: (worker: EngineWorker, request: Request) => void) {}

  /** Does a task, now or later; throws where its arguments cannot be sent or there can be no worker. */
  add(task: Task, asker: EngineWorker | null = null): void {
    const worker = this.takeWorker();
    if (worker !== null) {
      this.start(worker, task);
      return;
    }
    // What the caller changes from now on is not what was sent.
    const values = clone(task.args.values);
    this.queues[task.depth] ??= [];
    this.queues[task.depth]?.push({
      task: { ...task, args: { ...task.args, values } },
      worker: asker,
    });
    this.watch();
  }

  /** Has what waits its turn after a worker's function began or ceased to wait. */
  pump(): void {
    this.giveOut();
    clearTimeout(this.watchTimer);
    this.watchTimer = undefined;
    this.watch();
  }

  private giveOut(): void {
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
    const waiting = this.queues.flat();
    this.queues = [];
    for (const worker of [...this.workers]) worker.end(reason);
    for (const { task } of waiting) {
      refuse(task, new EdgeGradError("Internal", `[spawn] its turn did not come: ${reason}.`));
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

  /** Forgets what a worker that is gone asked for. */
  forget(asker: EngineWorker): void {
    this.queues = this.queues.map((queue) =>
      queue.filter(({ worker, task }) => {
        if (worker === asker) release(task.args.handles);
        return worker !== asker;
      }),
    );
  }

  // Functions that meet, as at a barrier, wait for ever if one of them never gets a worker: nothing else would say so.
  private watch(): void {
    if (this.hasWarned || this.watchTimer !== undefined || this.deepestQueue() === undefined)
      return;
    this.watchTimer = setTimeout(() => {
      this.watchTimer = undefined;
      this.warn(this.queues.flat().length);
    }, kLongWait);
    unref(this.watchTimer);
  }

  private warn(count: number): void {
    if (count === 0) return;
    this.hasWarned = true;
    const workers = Math.min(spawnWorkers() + count, kMostWorkers);
    try {
      console.warn(
        `edgegrad: [spawn] for ${kLongWait / 1000} s none of ${spawnWorkers()} workers has been free for ${count} calls that wait. ` +
          `Functions that wait for each other need a worker each: init({ spawnWorkers: ${workers} }).`,
      );
    } catch {
      // A timer has no caller for what the console throws: it would end the process.
    }
  }

  private deepestQueue(): Waiting[] | undefined {
    while (this.queues.length > 0 && !this.queues.at(-1)?.length) this.queues.pop();
    return this.queues.at(-1);
  }

  // A worker for a task, or null when one will be free later.
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
    if (this.workers.size >= kMostWorkers) {
      const text = `${kMostWorkers} functions wait for what they gave to spawn() themselves, and there can be no more workers.`;
      fail("OutOfMemory", "spawn", `${text} Let functions return what is to be done next.`);
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
      this.idle(worker);
      throw error;
    }
  }
}

/** Does something with the task whose turn it is, and says what went wrong. */
function attempt(queue: Waiting[], run: (task: Task) => void): void {
  const { task } = queue.shift() as Waiting;
  try {
    run(task);
  } catch (error) {
    refuse(task, error);
  }
}

/** Says why a task cannot be done. */
function refuse({ args, settle }: Task, error: unknown): void {
  release(args.handles);
  settle(failureOf(error));
}

// The oldest engines have no structuredClone(): there it is posted as it is then.
function clone<T>(value: T): T {
  return globalThis.structuredClone?.(value) ?? value;
}
