// The type of a batch: what collate.ts makes of samples.

import type { TypedArray } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * The type of a batch that a DataLoader makes of samples: tensors and typed arrays are stacked, numbers, bigints and booleans become
 * a tensor, strings an array; arrays, Maps and plain objects are combined element by element.
 */
export type Collated<Sample> = 0 extends 1 & Sample
  ? Sample
  : [Sample] extends [string]
    ? Sample[]
    : [Sample] extends [Tensor | TypedArray | number | bigint | boolean]
      ? Tensor
      : Sample extends ReadonlyMap<infer Key, infer Value>
        ? Map<Key, Collated<Value>>
        : Sample extends object
          ? { -readonly [Part in keyof Sample]: Collated<Sample[Part]> }
          : unknown;
