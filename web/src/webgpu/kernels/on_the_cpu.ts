// The kernels that the CPU computes instead of the player, with the reasons.

import type { Kernels } from "../../generated/stream";

interface OnTheCpu {
  /** Kernels that the player lacks. */
  readonly kernels: readonly (keyof Kernels)[];
  readonly reason: string;
}

/** A kernel that the CPU computes. */
export type KernelOnTheCpu = (typeof kOnTheCpu)[number]["kernels"][number];

export const kOnTheCpu = [
  {
    kernels: ["qr", "svd", "eig", "eigh", "balance"],
    reason:
      "many short steps on small matrices, each of which depends on the previous one: the work for which a GPU is slowest",
  },
  {
    kernels: ["real_fft", "inverse_real_fft", "distances", "distances_backward", "find_distinct"],
    reason: "fast paths of the CPU only: on a device, their ops are composed of other kernels",
  },
  {
    kernels: [
      "sparse_product_counts",
      "sparse_product",
      "sparse_product_gradients",
      "sparse_solve",
    ],
    reason:
      "rows of which each has another length, and eliminations in which each step depends on the one before",
  },
  {
    kernels: ["quantize"],
    reason: "runs once for a weight, when a model is loaded",
  },
] as const satisfies readonly OnTheCpu[];
