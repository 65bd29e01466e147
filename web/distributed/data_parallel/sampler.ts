// DistributedSampler: the sample indices of a rank.

import * as eg from "edgegrad";
import { booleanFrom, integerFrom, readOptions } from "../../nats/options.js";
import { groupFrom } from "../group/process_group.js";

/** Options of `DistributedSampler`. */
export interface DistributedSamplerOptions {
  /** The number of ranks; default: that of the first group of this process. */
  readonly numReplicas?: number | undefined;
  /** The rank; default: that in the first group of this process. */
  readonly rank?: number | undefined;
  /** Whether to shuffle in each epoch; default true. */
  readonly shuffle?: boolean | undefined;
  /** The seed of the shuffle, which must be the same on all ranks; default 0. */
  readonly seed?: number | undefined;
  /** Whether to drop the last samples if they are not enough for all ranks; default false: some samples are used twice. */
  readonly dropLast?: boolean | undefined;
}

const kKnown = ["numReplicas", "rank", "shuffle", "seed", "dropLast"];

/** The sample indices of a rank. Ranks divide the data evenly. The order is that of PyTorch for the same seed and epoch. */
export class DistributedSampler implements Iterable<number> {
  /** The number of ranks that share the data. */
  readonly numReplicas: number;
  /** The rank whose indices these are. */
  readonly rank: number;
  readonly #size: number;
  readonly #shuffle: boolean;
  readonly #seed: number;
  readonly #dropLast: boolean;
  #epoch = 0;

  /** Takes the dataset, or anything with a length. Throws InvalidArgument for unknown options. */
  constructor(dataset: { readonly length: number }, options: DistributedSamplerOptions = {}) {
    const where = "DistributedSampler";
    const given = readOptions(where, kKnown, options);
    const size: unknown = Object(dataset).length;
    this.#size = integerFrom(where, "the length of dataset", size, { least: 1 });
    const replicas = given.numReplicas ?? groupFrom(where, undefined).worldSize;
    this.numReplicas = integerFrom(where, "numReplicas", replicas, { least: 1 });
    const rank = given.rank ?? groupFrom(where, undefined).rank;
    this.rank = integerFrom(where, "rank", rank, { least: 0, below: this.numReplicas });
    this.#seed = integerFrom(where, "seed", given.seed ?? 0);
    this.#shuffle = booleanFrom(where, "shuffle", given.shuffle ?? true);
    this.#dropLast = booleanFrom(where, "dropLast", given.dropLast ?? false);
  }

  /** The number of indices of this rank in an epoch. */
  get length(): number {
    const share = this.#size / this.numReplicas;
    return this.#dropLast ? Math.floor(share) : Math.ceil(share);
  }

  /** Sets the epoch, on which the order depends; call it before each epoch. */
  setEpoch(epoch: number): void {
    this.#epoch = integerFrom("setEpoch", "epoch", epoch, { least: 0 });
  }

  /** Begins a new pass. */
  *[Symbol.iterator](): IterableIterator<number> {
    const order = this.#shuffle ? this.#permutation() : null;
    const total = this.length * this.numReplicas;
    for (let i = this.rank; i < total; i += this.numReplicas) {
      const position = i % this.#size;
      yield order === null ? position : (order[position] as number);
    }
  }

  #permutation(): number[] {
    return eg.scope(() => {
      const generator = new eg.Generator(this.#seed + this.#epoch);
      return Array.from(eg.randperm(this.#size, { generator }).dataSync(), Number);
    });
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
