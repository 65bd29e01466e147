// The program's side of the connection to the worker of a group.

import type { Worker } from "node:worker_threads";
import { EdgeGradError } from "edgegrad";
import type { CollectiveRequest, Failure, Place, Reply, Request } from "../requests.js";
import { Outcome } from "../requests.js";

/** Converts a failure to an error. */
export function errorOf(where: string, { code, text }: Failure): EdgeGradError {
  return new EdgeGradError(code, `[${where}] ${text}`);
}

/** An operation for which the thread can block. */
export interface Work {
  /** The elements, which the operation replaces. */
  readonly data: SharedArrayBuffer;
  /** Blocks the thread until the operation is done. */
  wait(): void;
}

interface Pending {
  settle(reply: { place?: Place; failure?: Failure }): void;
}

// The worker's own timeout ends operations earlier, unless the worker itself has ended.
const kMoreMs = 5000;
const kNoAnswer: Failure = {
  code: "DeviceLost",
  text: "the worker of the group does not answer.",
};

/** The description of an operation; the link adds the other fields of the request. */
export type CollectiveCall = Omit<
  CollectiveRequest,
  "type" | "id" | "sequence" | "outcome" | "isAwaited"
>;

/** A worker and its pending requests. */
export class WorkerLink {
  readonly #pending = new Map<number, Pending>();
  #ids = 0;
  #sequence = 0;
  #isClosed = false;
  #ended: Failure | null = null;

  constructor(
    private readonly worker: Worker,
    private readonly timeout: number,
    private readonly onLost: (failure: Failure) => void,
  ) {
    worker.on("message", (reply: Reply) => this.#hear(reply));
    worker.on("error", (error) => this.#end(`the worker of the group has failed: ${error}.`));
    worker.on("exit", () => this.#end("the worker of the group has ended."));
    // The worker must not keep alive a program that has nothing else to do.
    worker.unref();
  }

  /** Joins a group. */
  async join(where: string): Promise<Place> {
    this.#sequence = 0;
    const { place } = await this.#ask(where, (id) => ({ type: "join", id, where }));
    return place as Place;
  }

  /** Leaves the group, and ends the worker. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const left = this.#ask("destroy", (id) => ({ type: "leave", id }));
    // A server that does not answer must not keep the program alive.
    const limit = setTimeout(() => void this.worker.terminate(), kMoreMs);
    await left.catch(() => {});
    clearTimeout(limit);
    await this.worker.terminate();
  }

  /** Ends the group on all ranks. */
  abort(reason: string): void {
    this.#post({ type: "abort", reason });
  }

  /** Runs an operation; resolves when it is done. */
  async run(call: CollectiveCall): Promise<void> {
    const { where } = call;
    const outcome = new Outcome();
    await this.#ask(where, (id) => this.#request(call, id, outcome, true));
    const ended = outcome.wait(0);
    throwIfFailed(where, ended === "late" ? kNoAnswer : ended);
  }

  /** Begins an operation for which the thread will block: the worker sends no message when it is done, which would cost both threads time. */
  start(call: CollectiveCall): Work {
    const { where, data } = call;
    const outcome = new Outcome();
    if (this.#ended !== null) outcome.settle(this.#ended);
    else this.#post(this.#request(call, this.#ids++, outcome, false));
    const wait = () => {
      const ended = outcome.wait(this.timeout + kMoreMs);
      const failure = ended === "late" ? kNoAnswer : ended;
      // A thread that was blocked hears of the loss only after it has returned, and its program asks for it before.
      if (failure?.code === "DeviceLost") this.onLost(failure);
      throwIfFailed(where, failure);
    };
    return { data, wait };
  }

  #request(call: CollectiveCall, id: number, outcome: Outcome, isAwaited: boolean): Request {
    const sequence = this.#sequence++;
    return { ...call, type: "collective", id, sequence, outcome: outcome.memory, isAwaited };
  }

  #ask(where: string, make: (id: number) => Request): Promise<{ place?: Place }> {
    const id = this.#ids++;
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) {
        reject(errorOf(where, this.#ended));
        return;
      }
      const settle = ({ place, failure }: { place?: Place; failure?: Failure }) => {
        if (failure !== undefined) reject(errorOf(where, failure));
        else resolve(place === undefined ? {} : { place });
      };
      this.#pending.set(id, { settle });
      this.worker.ref();
      this.#post(make(id));
    });
  }

  #post(request: Request): void {
    this.worker.postMessage(request);
  }

  #hear(reply: Reply): void {
    if (reply.type === "lost") {
      this.onLost(reply.failure);
      return;
    }
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.worker.unref();
    pending?.settle(reply);
  }

  #end(text: string): void {
    if (this.#ended !== null) return;
    this.#ended = { code: "DeviceLost", text };
    this.onLost(this.#ended);
    for (const pending of this.#pending.values()) pending.settle({ failure: this.#ended });
    this.#pending.clear();
  }
}

function throwIfFailed(where: string, failure: Failure | null): void {
  if (failure !== null) throw errorOf(where, failure);
}
