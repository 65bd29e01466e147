// Products of complex matrices as products of real ones.
//
// A row of complex numbers is a row of twice as many floats: real parts and imaginary ones in turn. So are the rows of A
// and C; and b stands in B for a square of floats, [re, im] above [-im, re]. All shaders of products can make that.

import type { View } from "../../stream";
import type { Matrices, Product } from "./matrix_product";

/** The product of floats; its strides count floats, from one complex number to another. */
export function inParts(product: Product): Product {
  const { n, k, a, b, c } = product;
  return { ...product, n: 2 * n, k: 2 * k, a: partsOf(a), b: partsOf(b), c: partsOf(c) };
}

function partsOf({ view, batchStrides, rowStride, columnStride }: Matrices): Matrices {
  return {
    view: floatsOf(view),
    batchStrides: batchStrides.map((step) => 2 * step),
    rowStride: 2 * rowStride,
    columnStride: 2 * columnStride,
  };
}

function floatsOf({ block, offset }: View): View {
  return { block, offset, dtype: "float32" };
}

/** What the floats of A and B are. */
export const kReadParts = `fn a_at(first: u32, row: u32, column: u32) -> f32 {
  return load_a(first + row * u.a_row + (column >> 1u) * u.a_column + (column & 1u));
}
fn b_at(first: u32, row: u32, column: u32) -> f32 {
  let part = load_b(first + (row >> 1u) * u.b_row + (column >> 1u) * u.b_column + ((row ^ column) & 1u));
  return select(part, -part, (row & ~column & 1u) == 1u);
}
`;
