// All kernels, by the names of their structs in src/kernels.

import { copy } from "./elementwise/copy";
import { elementwise } from "./elementwise/elementwise";
import type { Kernel, SupportedDTypes } from "./kernel";

const kKernels: Readonly<Record<string, Kernel>> = {
  elementwise,
  copy,
};

export const kernels: ReadonlyMap<string, Kernel> = new Map(Object.entries(kKernels));

/** The kernels that there are and the dtypes that they take, for whoever writes a stream. */
export const supported: Readonly<Record<string, SupportedDTypes>> = Object.fromEntries(
  Object.entries(kKernels).map(([name, kernel]) => [name, kernel.supported]),
);
