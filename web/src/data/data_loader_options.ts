// What a DataLoader may be told, and what of it goes together.

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
import { fail } from "../runtime/errors.js";
import { samplerRule } from "./sampler.js";

export const kDataLoaderOptions = {
  /** Samples per batch; null for samples as they are, not in batches; default 1. */
  batchSize: count.orNull().or(1),
  /** Draw a new order for each pass; default false. */
  shuffle: boolean.or(false),
  /** The order of the samples: any iterable of positions; default all, in order or shuffled. */
  sampler: samplerRule.orNull(),
  /** The positions of each batch: any iterable of lists; in place of the four options above and dropLast. */
  batchSampler: samplerRule.orNull(),
  /** Makes a batch of an array of samples; default stacks tensors, in arrays and objects too. */
  collateFn: functionOf<(samples: never[]) => unknown>().orNull(),
  /** Leave out the last batch when it is smaller; default false. */
  dropLast: boolean.or(false),
  /** Where draws come from; default the generator that `manualSeed` seeds. */
  generator: generatorRule,
  /** The same as `generator: new Generator(seed)`. */
  seed: integer.orNull(),
  /** Batches that are loaded ahead, together, where samples are promises; default 0. */
  prefetch: size.or(0),
};

/** Options of `DataLoader`. */
export type DataLoaderOptions<Sample = unknown, Batch = unknown> = Omit<
  Options<typeof kDataLoaderOptions>,
  "collateFn" | "sampler" | "batchSampler"
> & {
  /** Makes a batch of an array of samples; default stacks tensors, in arrays and objects too. */
  collateFn?: ((samples: Sample[]) => Batch | Promise<Batch>) | null;
  /** The order of the samples: any iterable of positions; default all, in order or shuffled. */
  sampler?: Iterable<number> | null;
  /** The positions of each batch: any iterable of lists. */
  batchSampler?: Iterable<readonly number[]> | null;
};

/** The options of a DataLoader, those left out filled in. */
export type DataLoaderValues = Values<typeof kDataLoaderOptions>;

/** Throws InvalidArgument for options that exclude one another. */
export function checkTogether(where: string, options: DataLoaderValues, isIterable: boolean): void {
  const { batchSize, shuffle, sampler, batchSampler, dropLast, generator, seed } = options;
  const refuse = (told: string) => fail("InvalidArgument", where, told);
  if (isIterable && (shuffle || sampler !== null || batchSampler !== null)) {
    const given = shuffle ? "shuffle" : sampler !== null ? "sampler" : "batchSampler";
    refuse(`with an iterable dataset: expected unspecified ${given} option; it has its own order.`);
  }
  if (shuffle && sampler !== null) refuse("sampler option is mutually exclusive with shuffle.");
  if (batchSampler !== null && (batchSize !== 1 || shuffle || sampler !== null || dropLast)) {
    const others = "batchSize, shuffle, sampler, and dropLast";
    refuse(`batchSampler option is mutually exclusive with ${others}.`);
  }
  if (batchSize === null && dropLast) {
    refuse("batchSize: null disables auto-batching and is mutually exclusive with dropLast.");
  }
  if (generator !== null && seed !== null) refuse("seed is mutually exclusive with generator.");
}
