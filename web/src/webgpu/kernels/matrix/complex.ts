// Products of complex matrices as products of real ones.
//
// A row of complex numbers is a row of twice as many floats: alternating real and imaginary parts. This is how the rows of
// A and C are seen. Each element of B becomes a 2 x 2 matrix of floats with the rows [re, im] and [-im, re]. All shaders
// for real products can read this form.

import type { View } from "../../stream";
import type { Matrices, Product } from "./matrix_product";

/** Returns the product in terms of floats; its strides count floats between complex numbers. */
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

/** The WGSL that reads the floats of A and B. The lowest bit of a line or step of B selects the part. */
export const kReadParts = `fn a_line(first: u32, row: u32) -> u32 { return first + row * u.a_row; }
fn a_step(first: u32, column: u32) -> u32 { return (column >> 1u) * u.a_column + (column & 1u); }
fn a_value(line: u32, step: u32) -> f32 { return load_a(line + step); }
fn b_line(first: u32, column: u32) -> u32 {
  return 2u * (first + (column >> 1u) * u.b_column) + (column & 1u);
}
fn b_step(first: u32, row: u32) -> u32 { return 2u * ((row >> 1u) * u.b_row) + (row & 1u); }
fn b_value(line: u32, step: u32) -> f32 {
  let part = load_b((line >> 1u) + (step >> 1u) + ((line ^ step) & 1u));
  return select(part, -part, (step & ~line & 1u) == 1u);
}
`;
