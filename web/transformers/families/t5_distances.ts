// T5's buckets of token distances: each short distance has its own bucket, and long ones share buckets.

/** The options of the buckets. */
export interface BucketOptions {
  /** Whether tokens attend only to earlier ones. */
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
  // In float32, because the buckets were computed so when the weights were trained.
  const share = Math.fround(Math.log(Math.fround(away / exact))) / Math.log(farthest / exact);
  return start + Math.min(exact + Math.floor(Math.fround(share * (half - exact))), half - 1);
}
