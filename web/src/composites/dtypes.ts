// Kinds of numbers, as bodies of composites tell them apart.

import type { Tensor } from "../tensor/tensor.js";

/** Whether a tensor is one of complex numbers. */
export function isComplex({ dtype }: Tensor): boolean {
  return dtype.startsWith("complex");
}
