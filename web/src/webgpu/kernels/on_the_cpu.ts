// What the CPU computes in the player's place, and why: the one list of it, for the pages and the tests.

import type { DType } from "../dtype";

interface OnTheCpu {
  /** Kernels that the player lacks. */
  readonly kernels?: readonly string[];
  /** Or a dtype that it lacks, of memory or of the op's operands. */
  readonly dtype?: DType;
  readonly reason: string;
}

export const kOnTheCpu: readonly OnTheCpu[] = [
  {
    kernels: ["qr", "svd", "eigh"],
    reason:
      "many short steps, each of which needs the one before, on matrices that are small: what a GPU is slowest at",
  },
  {
    kernels: ["solve", "determinants", "cholesky"],
    reason:
      "elimination column by column, each column after the one before; and whether a matrix is singular is an error at once",
  },
  {
    dtype: "complex64",
    reason: "no atomic multiplies a pair: `scatter` with `multiply` of complex numbers",
  },
];
