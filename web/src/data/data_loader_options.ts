// The options of DataLoader, and the check for options that exclude each other.

import { generatorRule } from "../arguments/generator.js";
import {
  boolean,
  count,
  functionOf,
  integer,
  type Options,
  size,
  type Values,
} from "../arguments/rule.js";
import { signalRule } from "../arguments/signal.js";
import { fail } from "../runtime/errors/errors.js";
import { samplerRule } from "./sampler.js";

export const kDataLoaderOptions = {
  /** The number of samples per batch; null for single samples that are not batched; default 1. */
  batchSize: count.orNull().or(1),
  /** Whether to use a new random order for each pass; default false. */
  shuffle: boolean.or(false),
  /** The order of the samples: any iterable of indices; default: all samples, in order or shuffled. */
  sampler: samplerRule.orNull(),
  /** The indices of each batch: any iterable of arrays. Excludes batchSize, shuffle, sampler and dropLast. */
  batchSampler: samplerRule.orNull(),
  /** Makes a batch of an array of samples; default: stacks tensors, also inside arrays and objects. */
  collateFn: functionOf<(samples: never[]) => unknown>().orNull(),
  /** Whether to drop the last batch if it is incomplete; default false. */
  dropLast: boolean.or(false),
  /** The source of random numbers; default: the global generator, which `manualSeed` seeds. */
  generator: generatorRule,
  /** Same as `generator: new Generator(seed)`. */
  seed: integer.orNull(),
  /** The number of batches that are loaded ahead, concurrently if samples are promises; default 0. */
  prefetch: size.or(0),
  /** Ends all passes, which then reject with the signal's reason; what is being loaded is freed when it comes. */
  signal: signalRule,
};

/** Options of `DataLoader`. */
export type DataLoaderOptions<Sample = unknown, Batch = unknown> = Omit<
  Options<typeof kDataLoaderOptions>,
  "collateFn" | "sampler" | "batchSampler"
> & {
  /** Makes a batch of an array of samples; default: stacks tensors, also inside arrays and objects. */
  collateFn?: ((samples: Sample[]) => Batch | Promise<Batch>) | null;
  /** The order of the samples: any iterable of indices; default: all samples, in order or shuffled. */
  sampler?: Iterable<number> | null;
  /** The indices of each batch: any iterable of arrays. */
  batchSampler?: Iterable<readonly number[]> | null;
};

/** The options of a DataLoader with defaults filled in. */
export type DataLoaderValues = Values<typeof kDataLoaderOptions>;

/** Throws InvalidArgument for options that exclude each other. */
export function checkTogether(where: string, options: DataLoaderValues, isIterable: boolean): void {
  const { batchSize, shuffle, sampler, batchSampler, dropLast, generator, seed } = options;
  const refuse = (message: string) => fail("InvalidArgument", where, message);
  if (isIterable && (shuffle || sampler !== null || batchSampler !== null)) {
    const given = shuffle ? "shuffle" : sampler !== null ? "sampler" : "batchSampler";
    refuse(`${given} cannot be used with an iterable dataset, which has its own order.`);
  }
  if (shuffle && sampler !== null) refuse("sampler and shuffle cannot be used together.");
  if (batchSampler !== null && (batchSize !== 1 || shuffle || sampler !== null || dropLast)) {
    refuse("batchSampler cannot be used with batchSize, shuffle, sampler or dropLast.");
  }
  if (batchSize === null && dropLast) {
    refuse("dropLast cannot be used with batchSize: null, which disables batching.");
  }
  if (generator !== null && seed !== null) refuse("seed and generator cannot be used together.");
}
