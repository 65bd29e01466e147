// The kernels that the CPU computes instead of the player, and why.

import type { Kernels } from "../../generated/border";

interface OnTheCpu {
  /** Kernels that the player lacks. */
  readonly kernels: readonly (keyof Kernels)[];
  readonly reason: string;
}

/** A kernel that the CPU computes. */
export type KernelOnTheCpu = (typeof kOnTheCpu)[number]["kernels"][number];

export const kOnTheCpu = [
  {
    kernels: ["qr", "svd", "eig", "eigh"],
    reason:
      "many short steps, each of which needs the one before, on matrices that are small: what a GPU is slowest at",
  },
  {
    kernels: ["solve", "solve_triangular", "lu", "determinants", "cholesky"],
    reason:
      "elimination column by column, each column after the one before; and whether a matrix is singular is an error at once",
  },
  {
    kernels: ["search_sorted"],
    reason: "a handful of reads for each value, every one of which waits for the one before",
  },
  {
    kernels: [
      "channel_norm",
      "channel_norm_backward",
      "lstm_cell",
      "lstm_cell_backward",
      "real_fft",
      "inverse_real_fft",
      "distances",
      "distances_backward",
      "find_distinct",
    ],
    reason: "ways of the CPU alone: on a device their ops are made of other kernels",
  },
] as const satisfies readonly OnTheCpu[];
