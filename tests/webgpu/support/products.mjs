// Matrix products by kernels.

import { assertClose, randoms, range } from "./close.mjs";

/**
 * Asserts that a product on the device is that in float64. `layout` tells whether A and B are transposed ("NT"); rows have `lead` more
 * elements in memory.
 */
export async function checkProduct(p, given) {
  const { m, n, k, layout, lead = 0, batch = 1, beta = 0, dtypes = ["float32", "float32"] } = given;
  const [isATransposed, isBTransposed] = [...layout].map((one) => one === "T");
  const aLayout = isATransposed ? [1, m + lead] : [k + lead, 1];
  const bLayout = isBTransposed ? [1, k + lead] : [n + lead, 1];
  const cLayout = [n + lead, 1];
  const sizes = [
    (isATransposed ? k : m) * Math.max(...aLayout),
    (isBTransposed ? n : k) * Math.max(...bLayout),
    m * cLayout[0],
  ];
  const [a, b, before] = sizes.map((size, i) =>
    // All of them have few enough digits for float16.
    randoms(batch * size, i + 2).map((x) =>
      (dtypes[i] ?? "float32") === "float32" ? x : Math.round(64 * x) / 64,
    ),
  );
  const c = p.view("float32", before);
  p.kernel("matrix_product", {
    sizes: { batch: batch > 1 ? [batch] : [], m, n, k },
    ...{ a: p.view(dtypes[0], a), b: p.view(dtypes[1], b), c },
    ...Object.fromEntries(
      [aLayout, bLayout, cLayout].map(([rowStride, columnStride], i) => [
        `${"abc"[i]}Layout`,
        { batchStrides: batch > 1 ? [sizes[i]] : [], rowStride, columnStride },
      ]),
    ),
    ...{ alpha: 1, beta },
  });
  const found = await p.read(c);
  const expected = [...before];
  for (const at of range(batch)) {
    for (const i of range(m)) {
      for (const j of range(n)) {
        let sum = 0;
        for (let step = 0; step < k; step++)
          sum +=
            a[at * sizes[0] + i * aLayout[0] + step * aLayout[1]] *
            b[at * sizes[1] + step * bLayout[0] + j * bLayout[1]];
        const to = at * sizes[2] + i * cLayout[0] + j;
        expected[to] = sum + beta * before[to];
      }
    }
  }
  const title = `${batch} times ${m} x ${k} x ${n} ${layout}, ${lead} between, of ${dtypes}`;
  assertClose(found, expected, { absolute: 3e-4, title });
}
