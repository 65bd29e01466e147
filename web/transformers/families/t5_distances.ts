// The buckets that T5 puts distances of tokens into: near ones have their own, far ones share.

/** How distances are put into buckets. */
export interface BucketOptions {
  /** Whether only earlier tokens are seen. */
  readonly isCausal: boolean;
  readonly buckets: number;
  readonly farthest: number;
}

/** Returns the bucket of each key for each token from `first` on. */
export function distanceBuckets(first: number, keys: number, options: BucketOptions): number[][] {
  return Array.from({ length: keys - first }, (_, row) =>
    Array.from({ length: keys }, (_, key) => bucketOf(key - first - row, options)),
  );
}

function bucketOf(distance: number, { isCausal, buckets, farthest }: BucketOptions): number {
  const half = isCausal ? buckets : buckets / 2;
  const start = !isCausal && distance > 0 ? half : 0;
  const away = isCausal ? Math.max(-distance, 0) : Math.abs(distance);
  const exact = Math.floor(half / 2);
  if (away < exact) return start + away;
  // In float32, as the buckets of the weights were chosen.
  const share = Math.fround(Math.log(Math.fround(away / exact))) / Math.log(farthest / exact);
  return start + Math.min(exact + Math.floor(Math.fround(share * (half - exact))), half - 1);
}
