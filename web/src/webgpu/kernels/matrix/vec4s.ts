// Whether the layout of matrices permits reading and writing four neighboring floats, or halves, at a time.

import { type Access, isHalvesAligned, isVec4Aligned } from "../../shader";
import type { Matrices, Product } from "./matrix_product";
import type { Vec4s } from "./tiled_product";

/**
 * Returns how to access the operands as vec4s, if possible. `functions` returns the WGSL functions, depending on whether results
 * are written as vec4s.
 */
export function vec4sOf(
  { n, k, a, b, c }: Product,
  memory: readonly Access[],
  functions: (hasResults: boolean) => string,
): Vec4s | undefined {
  const vectors = new Map(memory.map((access) => [access.name, vectorsOf(access)]));
  const areRead = [a, b].every(areVec4Aligned) && vectors.get("a") && vectors.get("b");
  if (k % 4 !== 0 || !areRead) return undefined;
  const withResults = (hasResults: boolean): Vec4s | undefined => {
    const names = hasResults ? ["a", "b", "c"] : ["a", "b"];
    const inVec4s = memory.map((access): Access => {
      const as = names.includes(access.name) ? vectors.get(access.name) : undefined;
      return as ? { ...access, as } : access;
    });
    if (sharesBlocks(inVec4s)) return undefined;
    return { memory: inVec4s, hasResults, functions: () => functions(hasResults) };
  };
  const hasResults =
    n % 4 === 0 && c.columnStride === 1 && areVec4Aligned(c) && vectors.get("c") !== undefined;
  const vec4s = withResults(hasResults);
  return vec4s && hasResults ? { ...vec4s, withSingleResults: withResults(false) } : vec4s;
}

/** Returns the form of vectors of four in which the alignment of memory permits to access it. */
export function vectorsOf({ view, as }: Access): "vec4s" | "halves" | undefined {
  if (as === "half") return isHalvesAligned(view) ? "halves" : undefined;
  return isVec4Aligned(view) ? "vec4s" : undefined;
}

// Rows or columns are contiguous and begin at multiples of four elements, from the first one.
function areVec4Aligned({ batchStrides, rowStride, columnStride }: Matrices): boolean {
  const apart = columnStride === 1 ? rowStride : columnStride;
  const isPacked = columnStride === 1 || rowStride === 1;
  return isPacked && [apart, ...batchStrides].every((step) => step % 4 === 0);
}

// Within a shader, a buffer is accessed either always or never in vectors, of one form.
function sharesBlocks(memory: readonly Access[]): boolean {
  const isInVectors = ({ as }: Access) => as === "vec4s" || as === "halves";
  return memory.some(
    (access) =>
      isInVectors(access) &&
      memory.some((other) => other.as !== access.as && other.view.block === access.view.block),
  );
}
