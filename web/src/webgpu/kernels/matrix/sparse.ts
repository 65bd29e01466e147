// Products with a sparse matrix in CSR layout, one row of it at a time.

import type { CsrPattern, CsrProduct, SampledProduct } from "../../../generated/stream";
import type { DType } from "../../dtype";
import type { Access } from "../../shader";
import { kInside } from "../index/checked";
import { forEach, invocations } from "../invocations";
import type { Kernel } from "../kernel";

const kFloats: readonly DType[] = ["float32"];

function accessOf({ rowStarts, columnIndices }: CsrPattern): Access[] {
  return [
    { name: "starts", view: rowStarts, mode: "read", as: "index" },
    { name: "columns", view: columnIndices, mode: "read", as: "index" },
  ];
}

// Runs `each` for the values `k` of the row `row`, in the column `column`.
function forEachValue(each: string): string {
  return `let last = u32(load_starts(row + 1u));
  for (var k = u32(load_starts(row)); k < last; k++) {
    let column = checked_index(load_columns(k), u.columns);
    ${each}
  }`;
}

export const csrProduct: Kernel<CsrProduct> = {
  supported: { views: [["int64"], ["int64"], kFloats, kFloats, kFloats] },

  play({ pattern, transposed, width, values, dense, product }, commands): void {
    const count = pattern.rows * width;
    if (count === 0) return;
    // A row of the transpose is a sum over rows of the matrix, which several invocations add to.
    const body = transposed
      ? forEachValue("_ = add_product(column * u.width + j, load_values(k) * load_dense(i));")
      : `var sum = 0.0;
  ${forEachValue("sum += load_values(k) * load_dense(column * u.width + j);")}
  store_product(i, sum);`;
    commands.dispatch({
      key: `csr_product ${transposed}`,
      memory: [
        ...accessOf(pattern),
        { name: "values", view: values, mode: "read" },
        { name: "dense", view: dense, mode: "read" },
        { name: "product", view: product, mode: transposed ? "atomic" : "write" },
      ],
      uniforms: { u32: { count, width, columns: pattern.columns } },
      workgroups: invocations(count),
      body: () =>
        kInside +
        forEach(`let row = i / u.width;
  let j = i % u.width;
  ${body}`),
    });
  },
};

export const sampledProduct: Kernel<SampledProduct> = {
  supported: { views: [["int64"], ["int64"], kFloats, kFloats, kFloats] },

  play({ pattern, width, left, right, samples }, commands): void {
    const count = pattern.rows;
    if (count === 0) return;
    commands.dispatch({
      key: "sampled_product",
      memory: [
        ...accessOf(pattern),
        { name: "left", view: left, mode: "read" },
        { name: "right", view: right, mode: "read" },
        { name: "samples", view: samples, mode: "write" },
      ],
      uniforms: { u32: { count, width, columns: pattern.columns } },
      workgroups: invocations(count),
      body: () =>
        kInside +
        forEach(`let row = i;
  ${forEachValue(`var sum = 0.0;
    for (var j = 0u; j < u.width; j++) {
      sum += load_left(row * u.width + j) * load_right(column * u.width + j);
    }
    store_samples(k, sum);`)}`),
    });
  },
};
