// Kinds of dtypes that bodies of composites distinguish.

import type { Tensor } from "../tensor/tensor.js";

/** Whether a tensor is complex. */
export function isComplex({ dtype }: Tensor): boolean {
  return dtype.startsWith("complex");
}
