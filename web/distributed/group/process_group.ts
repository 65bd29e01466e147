// Process groups and initProcessGroup().

import type { EdgeGradError } from "edgegrad";
import { fail } from "../../errors/errors.js";
import { kCounters, type Place, type WorkerOptions } from "../requests.js";
import {
  type ProcessGroupOptions,
  type ReadProcessGroupOptions,
  readProcessGroupOptions,
} from "./options.js";
import { type CollectiveCall, errorOf, type Work, WorkerLink } from "./worker_link.js";

const kMade = Symbol("made by initProcessGroup");
const kGroups: ProcessGroup[] = [];

/** The traffic of a process in a group. */
export interface Traffic {
  /** The bytes of all sent messages, including headers. */
  readonly bytesSent: number;
  /** The bytes of all received messages. */
  readonly bytesReceived: number;
  /** The number of sent messages. */
  readonly messagesSent: number;
}

/** A group of processes that compute together, which `initProcessGroup` creates. */
export class ProcessGroup {
  readonly #link: WorkerLink;
  readonly #counters: Float64Array;
  #place: Place = { rank: 0, worldSize: 0, generation: 0, source: 0 };
  #failure: EdgeGradError | null = null;
  #isDestroyed = false;

  /** @internal */
  constructor(
    made: typeof kMade,
    options: ReadProcessGroupOptions,
    worker: import("node:worker_threads").Worker,
    counters: SharedArrayBuffer,
  ) {
    if (made !== kMade) {
      fail("InvalidArgument", "ProcessGroup", "call initProcessGroup(), which makes groups.");
    }
    this.#counters = new Float64Array(counters);
    this.#link = new WorkerLink(worker, options.timeout, (failure) => {
      this.#failure ??= errorOf("ProcessGroup", failure);
    });
  }

  /** The number of processes; with `minWorldSize` it may change with each `rejoin`. */
  get worldSize(): number {
    return this.#place.worldSize;
  }

  /** The rank of this process in the group, from 0. */
  get rank(): number {
    return this.#place.rank;
  }

  /** The number of times that the group was formed: 1 at first, and larger after each `rejoin`. */
  get generation(): number {
    return this.#place.generation;
  }

  /** The rank whose process has been in the group for the longest time: broadcast weights and step from it after `rejoin`. */
  get source(): number {
    return this.#place.source;
  }

  /** The error that has ended the group, until `rejoin`; null if there is none. */
  get failure(): EdgeGradError | null {
    return this.#failure;
  }

  /** The traffic of this process. */
  get traffic(): Traffic {
    const [bytesSent = 0, bytesReceived = 0, messagesSent = 0] = this.#counters;
    return { bytesSent, bytesReceived, messagesSent };
  }

  /**
   * Forms the group again after a failure: resolves when `worldSize` processes have joined, where earlier members keep their ranks, or at
   * least `minWorldSize`, whose ranks begin at 0 again. Throws InvalidArgument if they have not joined within `joinTimeout`.
   */
  async rejoin(): Promise<void> {
    this.#checkUsable("rejoin");
    await this.#join("rejoin");
  }

  /** Ends the group on all ranks: their operations throw DeviceLost with the reason. */
  abort(reason = "abort() was called"): void {
    this.#checkUsable("abort");
    this.#link.abort(String(reason));
  }

  /** Leaves the group and closes the connection. The others can only continue without this process. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    const at = kGroups.indexOf(this);
    if (at !== -1) kGroups.splice(at, 1);
    await this.#link.close();
  }

  /** @internal */
  start(call: CollectiveCall): Work {
    this.#checkUsable(call.where);
    return this.#link.start(call);
  }

  /** Runs an operation; resolves when it is done. @internal */
  async run(call: CollectiveCall): Promise<void> {
    this.#checkUsable(call.where);
    return this.#link.run(call);
  }

  /** @internal */
  async join(where: string): Promise<void> {
    try {
      await this.#join(where);
      kGroups.push(this);
    } catch (error) {
      await this.destroy();
      throw error;
    }
  }

  async #join(where: string): Promise<void> {
    this.#place = await this.#link.join(where);
    this.#failure = null;
  }

  #checkUsable(where: string): void {
    if (this.#isDestroyed) fail("InvalidArgument", where, "the process group was destroyed.");
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/**
 * Forms a group of `worldSize` processes, each of which calls this with the same `run`; resolves when all have joined. The first group of a
 * process is the default of the option `group` of other functions. Throws InvalidArgument for unknown options, if no server can be reached,
 * and if the others have not joined within `joinTimeout`. Needs Node.
 */
export async function initProcessGroup(options: ProcessGroupOptions): Promise<ProcessGroup> {
  const where = "initProcessGroup";
  const read = readProcessGroupOptions(where, options);
  const { Worker } = await import("node:worker_threads").catch(() =>
    fail("InvalidArgument", where, "groups need Node; for pages there is edgegrad/federated."),
  );
  const counters = new SharedArrayBuffer(kCounters.length * Float64Array.BYTES_PER_ELEMENT);
  const workerData: WorkerOptions = { ...read, counters };
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    workerData,
    // The program's options, such as --input-type, may not be valid for a file.
    execArgv: [],
  });
  const group = new ProcessGroup(kMade, read, worker, counters);
  await group.join(where);
  return group;
}

/** Returns the group of a call: the given one, or the first group of this process. */
export function groupFrom(where: string, given: unknown): ProcessGroup {
  if (given instanceof ProcessGroup) return given;
  if (given !== undefined) {
    fail("InvalidArgument", where, "group: expected what initProcessGroup() resolves to.");
  }
  const [first] = kGroups;
  return first ?? fail("InvalidArgument", where, "there is no group; call initProcessGroup().");
}
