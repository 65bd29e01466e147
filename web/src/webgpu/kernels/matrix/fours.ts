// Whether matrices lie so that shaders can read and write four neighbouring floats at a time.

import { type Access, isFoursAligned } from "../../shader";
import type { Matrices, Product } from "./matrix_product";
import type { Fours } from "./tiled_product";

/** `functions` are those of a product in fours, whose results are fours or not. */
export function foursOf(
  { n, k, a, b, c }: Product,
  memory: readonly Access[],
  functions: (hasResults: boolean) => string,
): Fours | undefined {
  if (k % 4 !== 0 || !areFours(a) || !areFours(b)) return undefined;
  const hasResults = n % 4 === 0 && c.columnStride === 1 && areFours(c);
  const names = hasResults ? ["a", "b", "c"] : ["a", "b"];
  const inFours = memory.map((access) =>
    names.includes(access.name) ? ({ ...access, as: "fours" } as const) : access,
  );
  if (sharesBlocks(inFours)) return undefined;
  return { memory: inFours, hasResults, functions: () => functions(hasResults) };
}

// Rows or columns begin at fours and lie packed.
function areFours({ view, batchStrides, rowStride, columnStride }: Matrices): boolean {
  const apart = columnStride === 1 ? rowStride : columnStride;
  const isPacked = columnStride === 1 || rowStride === 1;
  return (
    isPacked && isFoursAligned(view) && [apart, ...batchStrides].every((step) => step % 4 === 0)
  );
}

// A shader sees a whole buffer in fours or not at all.
function sharesBlocks(memory: readonly Access[]): boolean {
  const isFours = ({ as }: Access) => as === "fours";
  return memory.some(
    (one) =>
      isFours(one) &&
      memory.some((other) => !isFours(other) && other.view.block === one.view.block),
  );
}
