// DistributedDataParallel: a module that all ranks train, each on its part of a batch.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { booleanFrom, numberFrom, readOptions } from "../../nats/options.js";
import { memoryFor, read, wireDType, write } from "../collectives/wire.js";
import { groupFrom, type ProcessGroup } from "../group/process_group.js";
import { type Bucket, bucketsOf } from "./buckets.js";

/** Options of `DistributedDataParallel`. */
export interface DistributedDataParallelOptions {
  /** The group; default: the first group of this process. */
  readonly group?: ProcessGroup | undefined;
  /** The megabytes of gradients that are sent together; default 25. */
  readonly bucketCapMb?: number | undefined;
  /** Whether rank 0 broadcasts its buffers, such as the running means of batch norm, before each forward pass in training; default true. */
  readonly broadcastBuffers?: boolean | undefined;
}

const kWhere = "DistributedDataParallel";

/**
 * A module whose gradients are averaged over all ranks while backward runs: after `backward()` every rank has the gradients of the whole
 * batch, provided that all ranks have parts of the same size. On construction, all ranks receive the parameters and buffers of the rank
 * `group.source`. The wrapped module is its child `module`, so the keys of its state dict begin with "module.". backward() throws DeviceLost
 * if a rank is lost or late.
 */
export class DistributedDataParallel<M extends eg.nn.Module = eg.nn.Module> extends eg.nn.Module {
  /** The wrapped module. */
  readonly module: M;
  readonly #group: ProcessGroup;
  readonly #buckets: readonly Bucket[];
  readonly #hooks: { remove(): void }[] = [];
  readonly #broadcastsBuffers: boolean;
  // The generation in which an unfinished backward call has begun.
  #openIn: number | null = null;
  #isSynced = true;

  constructor(module: M, options: DistributedDataParallelOptions = {}) {
    super();
    if (!(module instanceof eg.nn.Module)) {
      fail("InvalidArgument", kWhere, "module: expected an nn.Module.");
    }
    const known = ["group", "bucketCapMb", "broadcastBuffers"];
    const given = readOptions(kWhere, known, options);
    const { bucketCapMb = 25, broadcastBuffers = true } = given;
    const most = numberFrom(kWhere, "bucketCapMb", bucketCapMb, { above: 0 }) * 1e6;
    this.module = module;
    this.#group = groupFrom(kWhere, given.group);
    this.#broadcastsBuffers = booleanFrom(kWhere, "broadcastBuffers", broadcastBuffers);
    const trained = [...module.parameters()].filter(({ requiresGrad }) => requiresGrad);
    if (trained.length === 0) {
      fail("InvalidArgument", kWhere, "module: expected a parameter that requires a gradient.");
    }
    this.#buckets = bucketsOf(kWhere, trained, most);
    this.broadcastState(this.#group.source);
    for (const bucket of this.#buckets) {
      for (const [i, parameter] of bucket.parameters.entries()) {
        const hook = () => this.#take(bucket, i, parameter);
        this.#hooks.push(parameter.registerPostAccumulateGradHook(hook));
      }
    }
  }

  /** Calls the module. */
  override forward(...inputs: Parameters<M["forward"]>): ReturnType<M["forward"]> {
    if (this.#openIn !== null) this.#abandon(this.#openIn);
    const isTraining = this.training && eg.isGradEnabled();
    if (isTraining && this.#isSynced && this.#broadcastsBuffers) {
      this.#broadcast([...this.module.buffers()], 0);
    }
    return this.module.call(...inputs) as ReturnType<M["forward"]>;
  }

  /** Broadcasts the parameters and buffers of a rank, as on construction. Blocks the thread until they have arrived. */
  broadcastState(src: number): void {
    this.#broadcast([...this.module.parameters(), ...this.module.buffers()], src);
  }

  /** Calls a function in which backward calls accumulate gradients only on this rank. The next one outside of it averages the accumulated gradients. */
  noSync<T>(fn: () => T): T {
    const before = this.#isSynced;
    this.#isSynced = false;
    const restore = () => {
      this.#isSynced = before;
    };
    let result: T;
    try {
      result = fn();
    } catch (error) {
      restore();
      throw error;
    }
    if (!isPromise(result)) {
      restore();
      return result;
    }
    return Promise.resolve(result).finally(restore) as T;
  }

  /** Removes the hooks from the parameters: gradients are no longer averaged. */
  removeHooks(): void {
    for (const hook of this.#hooks) hook.remove();
    this.#hooks.length = 0;
  }

  #take(bucket: Bucket, index: number, parameter: eg.Tensor): void {
    if (!this.#isSynced) {
      bucket.hold(index);
      return;
    }
    if (this.#openIn === null) {
      this.#openIn = this.#group.generation;
      eg.autograd.graph.queueCallback(() => this.#finish());
    }
    eg.scope(() => {
      if (parameter.grad !== null && bucket.add(index, parameter.grad)) return;
      const advice = "Call the module once per backward().";
      fail("InvalidArgument", kWhere, `a parameter has got its gradient twice. ${advice}`);
    });
    // Buckets must be sent in the same order on all ranks.
    for (const next of this.#buckets) {
      if (next.isSent) continue;
      if (!next.isReady) break;
      next.send("backward", this.#group);
    }
  }

  // Called at the end of a backward call.
  #finish(): void {
    for (const bucket of this.#buckets) {
      if (!bucket.isSent) bucket.send("backward", this.#group);
    }
    for (const bucket of this.#buckets) bucket.receive();
    this.#openIn = null;
  }

  // A backward call has failed after sending some gradients, so other ranks have averages that this one lacks.
  #abandon(openIn: number): void {
    const isSent = this.#buckets.some((bucket) => bucket.isSent);
    for (const bucket of this.#buckets) bucket.reset();
    this.#openIn = null;
    const { failure, generation } = this.#group;
    if (isSent && failure === null && generation === openIn) {
      this.#group.abort("a backward call has failed after a part of its gradients was sent");
    }
  }

  #broadcast(tensors: readonly eg.Tensor[], src: number): void {
    const isSource = this.#group.rank === src;
    const sent = tensors.map((tensor) => {
      const dtype = wireDType(kWhere, tensor);
      const data = memoryFor(tensor, dtype);
      if (isSource) write(tensor, dtype, data);
      const kind = "broadcast";
      const call = { where: kWhere, kind, dtype, reduction: "sum", root: src, data } as const;
      return { tensor, dtype, work: this.#group.start(call) };
    });
    for (const { tensor, dtype, work } of sent) {
      work.wait();
      if (!isSource) read(tensor, dtype, work.data);
    }
  }
}

// A promise may come from another realm.
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
