// Whether the layout of matrices permits reading and writing four neighbouring floats, or halves, at a time.

import { type Access, isFoursAligned, isHalvesAligned } from "../../shader";
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
  const vectors = new Map(memory.map((access) => [access.name, vectorsOf(access)]));
  const areRead = [a, b].every(areFours) && vectors.get("a") && vectors.get("b");
  if (k % 4 !== 0 || !areRead) return undefined;
  const withResults = (hasResults: boolean): Fours | undefined => {
    const names = hasResults ? ["a", "b", "c"] : ["a", "b"];
    const inFours = memory.map((access): Access => {
      const as = names.includes(access.name) ? vectors.get(access.name) : undefined;
      return as ? { ...access, as } : access;
    });
    if (sharesBlocks(inFours)) return undefined;
    return { memory: inFours, hasResults, functions: () => functions(hasResults) };
  };
  const hasResults =
    n % 4 === 0 && c.columnStride === 1 && areFours(c) && vectors.get("c") !== undefined;
  const fours = withResults(hasResults);
  return fours && hasResults ? { ...fours, withSingleResults: withResults(false) } : fours;
}

/** Returns the form of vectors of four in which the alignment of memory permits to access it. */
export function vectorsOf({ view, as }: Access): "fours" | "halves" | undefined {
  if (as === "half") return isHalvesAligned(view) ? "halves" : undefined;
  return isFoursAligned(view) ? "fours" : undefined;
}

// Rows or columns are contiguous and begin at multiples of four elements, from the first one.
function areFours({ batchStrides, rowStride, columnStride }: Matrices): boolean {
  const apart = columnStride === 1 ? rowStride : columnStride;
  const isPacked = columnStride === 1 || rowStride === 1;
  return isPacked && [apart, ...batchStrides].every((step) => step % 4 === 0);
}

// Within a shader, a buffer is accessed either always or never in vectors, of one form.
function sharesBlocks(memory: readonly Access[]): boolean {
  const isInVectors = ({ as }: Access) => as === "fours" || as === "halves";
  return memory.some(
    (one) =>
      isInVectors(one) &&
      memory.some((other) => other.as !== one.as && other.view.block === one.view.block),
  );
}
