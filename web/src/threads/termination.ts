// How an engine worker is ended, and what it held is freed.
//
// Handles of tensors belong to threads, and those of a worker are released when it ends. C++ looks handles up without a lock, so
// they must not be released before the worker has stopped running. Node reports when a worker has ended. A browser does not, and a
// worker can run for seconds after terminate(): so in a browser it acquires a Web Lock before it runs anything, which others can
// acquire once it has ended. Where Web Locks are not available, the handles of a terminated worker are never released.

import { startedModule } from "../engine/lifecycle.js";
import { epoch, lookForFailure, native } from "../runtime/bridge/bridge.js";
import type { ThreadWorker } from "../runtime/bridge/native.js";
import { setTimeout } from "../runtime/host/host.js";
import { nodeProcess } from "../runtime/host/node.js";
import { unref } from "../runtime/threads/keep_alive.js";

/** Results of native.stopThread(). */
const kOutside = 0;
const kNotThere = -1;

/** A thread that has just been started may begin later, after at most so many milliseconds or it never does. */
const kMaxTurnsToBegin = 5_000;

/** What is known of a worker that has to be ended. */
export class Termination {
  /** The name of the Web Lock that the worker holds while it runs; undefined where none is needed. */
  readonly lock = hasLocks() ? `edgegrad-${crypto.randomUUID()}` : undefined;
  /** Whether the worker holds it; undefined until the worker is ready. */
  isLocked: boolean | undefined;
  /** Null until the worker is a thread of the engine. */
  thread: number | null = null;
  /** Whether it is known that the worker no longer runs. */
  hasExited = false;

  constructor(private readonly worker: ThreadWorker) {}

  /**
   * Terminates the worker and frees what its thread held; calls `releaseArguments` instead if it never became one. Resolves when the
   * worker has ended, as far as that can be known.
   */
  async run(releaseArguments: () => void): Promise<void> {
    const started = epoch;
    await this.untilOutside();
    const hasEnded = await this.untilTerminated().catch(() => false);
    if (started !== epoch) return;
    if (this.thread !== null) freeThread(this.thread, hasEnded);
    else if (hasEnded) releaseArguments();
  }

  // Waits until the worker is outside of C++ and its calls are refused: terminated in the middle of a call, it would hold locks of
  // the engine for good.
  private async untilOutside(): Promise<void> {
    const started = epoch;
    for (let turn = 0; this.thread !== null; turn++) {
      // Deferred also because this task of the event loop may still call C++ for other workers, while the engine shuts down.
      await pause();
      if (this.hasExited || started !== epoch) return;
      const state = native.stopThread(this.thread);
      // What the worker has done before it knew of that is only seen later.
      if (turn > 0 && state === kOutside) return;
      if (turn > kMaxTurnsToBegin && state === kNotThere) return;
    }
  }

  // Terminates the worker. Returns true only if it is certain that the worker has ended.
  private async untilTerminated(): Promise<boolean> {
    const terminated = this.worker.terminate();
    if (terminated !== undefined) {
      await terminated;
      return true;
    }
    if (this.thread === null) return true;
    if (this.lock === undefined || this.isLocked === false) return false;
    return await untilLockIsFree(this.lock, this.isLocked === true);
  }
}

// Frees what a worker held.
function freeThread(thread: number, hasEnded: boolean): void {
  if (!hasEnded) {
    native.loseThread(thread);
    return;
  }
  const isFree = native.freeThread(thread) !== 0;
  lookForFailure();
  native.releaseHandlesOf(thread);
  if (isFree) startedModule().freeThread?.(thread);
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    unref(setTimeout(resolve, 1));
  });
}

// Web Locks are not used in Node, which reports when a worker has ended.
function hasLocks(): boolean {
  const isNode = nodeProcess() !== undefined;
  return !isNode && globalThis.navigator?.locks !== undefined;
}

// Resolves when the lock is free. If the worker may not have acquired it yet, the lock is then held so that the worker never can.
function untilLockIsFree(lock: string, isReleased: boolean): Promise<true> {
  return new Promise((resolve, reject) => {
    const granted = () => {
      resolve(true);
      return isReleased ? undefined : new Promise(() => {});
    };
    navigator.locks.request(lock, granted).catch(reject);
  });
}
