// Whether the layout of matrices permits reading and writing four neighbouring floats at a time.

import { type Access, isFoursAligned } from "../../shader";
import type { Matrices, Product } from "./matrix_product";
import type { Fours } from "./tiled_product";

/**
 * Returns how to access the operands as fours, if possible. `functions` returns the WGSL functions, depending on whether results
 * are written as fours.
 */
export function foursOf(
  { n, k, a, b, c }: Product,
  memory: readonly Access[],
  functions: (hasResults: boolean) => string,
): Fours | undefined {
  if (k % 4 !== 0 || !areFours(a) || !areFours(b)) return undefined;
  const withResults = (hasResults: boolean): Fours | undefined => {
    const names = hasResults ? ["a", "b", "c"] : ["a", "b"];
    const inFours = memory.map((access) =>
      names.includes(access.name) ? ({ ...access, as: "fours" } as const) : access,
    );
    if (sharesBlocks(inFours)) return undefined;
    return { memory: inFours, hasResults, functions: () => functions(hasResults) };
  };
  const hasResults = n % 4 === 0 && c.columnStride === 1 && areFours(c);
  const fours = withResults(hasResults);
  return fours && hasResults ? { ...fours, withSingleResults: withResults(false) } : fours;
}

// Rows or columns are contiguous and begin at multiples of four floats.
function areFours({ view, batchStrides, rowStride, columnStride }: Matrices): boolean {
  const apart = columnStride === 1 ? rowStride : columnStride;
  const isPacked = columnStride === 1 || rowStride === 1;
  return (
    isPacked && isFoursAligned(view) && [apart, ...batchStrides].every((step) => step % 4 === 0)
  );
}

// Within a shader, a buffer is accessed either always or never as fours.
function sharesBlocks(memory: readonly Access[]): boolean {
  const isFours = ({ as }: Access) => as === "fours";
  return memory.some(
    (one) =>
      isFours(one) &&
      memory.some((other) => !isFours(other) && other.view.block === one.view.block),
  );
}
