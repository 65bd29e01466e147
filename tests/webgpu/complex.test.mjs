// Kernels on complex numbers, compared with the package on the CPU.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { randoms, range } from "./support/close.mjs";
import { rows } from "./support/kernel_fields.mjs";
import { options, packedStrides, playing, testBoth } from "./support/playing.mjs";

/** A tensor of complex numbers from their parts. */
const complex = (parts, shape) =>
  eg.tensor(Float32Array.from(parts), { shape: [...shape, 2] }).viewAsComplex();
const partsOf = (tensor) => Array.from(tensor.viewAsReal().contiguous().dataSync());
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** Device memory with these complex numbers, with other numbers before and after them. */
const view = (p, parts) => ({ ...p.view("complex64", parts, 2), count: parts.length });

// The tolerance is relative to the root mean square: a number may be the difference of terms as large as the others.
function assertNear(found, right, title, relative = 2e-6) {
  assert.equal(found.length, right.length, title);
  const size = Math.sqrt(sum(right.map((x) => x * x)) / Math.max(right.length, 1));
  const worst = Math.max(0, ...found.map((x, i) => Math.abs(x - right[i])));
  assert.ok(worst <= relative * size, `${title}: off by ${worst} of ${size}`);
}

function product({ batch, m, n, k, a, b, c, alpha = 1, beta = 0 }) {
  const layout = ({ steps, row, column }) => ({
    batchStrides: steps,
    rowStride: row,
    columnStride: column,
  });
  return {
    sizes: { batch, m, n, k },
    ...{ a: a.view, aLayout: layout(a) },
    ...{ b: b.view, bLayout: layout(b) },
    ...{ c: c.view, cLayout: layout(c) },
    ...{ alpha, beta },
  };
}

testBoth("products of complex matrices, either way round, of a batch", async (p) => {
  const sizes = [
    [1, 1, 1],
    [3, 5, 2],
    [17, 33, 40],
    [1, 70, 30],
    [70, 1, 30],
    [2, 3, 3000],
    [130, 90, 20],
  ];
  for (const [m, n, k] of sizes) {
    const count = 2;
    const numbers = { a: randoms(2 * count * m * k, 2), b: randoms(2 * count * k * n, 3) };
    const before = randoms(2 * count * m * n, 5);
    for (const isTurned of [false, true]) {
      const [a, b] = isTurned
        ? [
            complex(numbers.a, [count, k, m]).transpose(1, 2),
            complex(numbers.b, [count, n, k]).transpose(1, 2),
          ]
        : [complex(numbers.a, [count, m, k]), complex(numbers.b, [count, k, n])];
      const c = view(p, before);
      p.kernel(
        "matrix_product",
        product({
          batch: [count],
          ...{ m, n, k, alpha: 0.5, beta: 2 },
          a: layoutOf(view(p, numbers.a), a),
          b: layoutOf(view(p, numbers.b), b),
          c: layoutOf(c, complex(before, [count, m, n])),
        }),
      );
      const expected = a
        .matmul(b)
        .mul(0.5)
        .add(complex(before, [count, m, n]).mul(2));
      const title = `${m} ${n} ${k} ${isTurned}`;
      // Both sides add thousands of floats, in different orders.
      assertNear(await p.read(c), partsOf(expected), title, 1e-5);
    }
  }
});

const layoutOf = (memory, { strides }) => ({
  view: memory,
  steps: [strides[0]],
  row: strides[1],
  column: strides[2],
});

testBoth("rows of a batch that meet one matrix are rows of one", async (p) => {
  const [count, m, n, k] = [3, 4, 5, 6];
  const numbers = { a: randoms(2 * count * m * k, 2), b: randoms(2 * k * n, 3) };
  const [a, b] = [complex(numbers.a, [count, m, k]), complex(numbers.b, [k, n])];
  const c = view(p, new Array(2 * count * m * n).fill(7));
  p.kernel(
    "matrix_product",
    product({
      batch: [count],
      ...{ m, n, k },
      a: layoutOf(view(p, numbers.a), a),
      b: { view: view(p, numbers.b), steps: [0], row: n, column: 1 },
      c: { view: c, steps: [m * n], row: n, column: 1 },
    }),
  );
  assertNear(await p.read(c), partsOf(a.matmul(b)), "one matrix for all");
});

test(
  "complex rows and elements are added where indices say, also to one place",
  options,
  async () => {
    const p = playing();
    const index = range(300, (i) => (i * i) % 4);
    const [count, inner] = [4, 3];
    const numbers = { target: randoms(2 * count * inner), source: randoms(2 * 300 * inner, 4) };
    const expected = complex(numbers.target, [count, inner]).indexAdd(
      0,
      eg.tensor(index.map(BigInt)),
      complex(numbers.source, [300, inner]),
    );
    const to = view(p, numbers.target);
    p.kernel("add_rows", {
      selection: {
        outer: 1,
        rows: count,
        inner,
        count: index.length,
        index: p.view("int64", index),
      },
      packed: view(p, numbers.source),
      indexed: to,
      skip: -1,
    });
    assertNear(await p.read(to), partsOf(expected), "rows", 1e-5);
    const places = range(300 * inner, (i) => index[Math.floor(i / inner)]);
    const one = view(p, numbers.target);
    p.kernel("add_elements", {
      selection: {
        shape: [300, inner],
        dim: 0,
        strides: packedStrides([count, inner]),
        index: p.view("int64", places),
      },
      packed: view(p, numbers.source),
      indexed: one,
    });
    assertNear(await p.read(one), partsOf(expected), "elements", 1e-5);
  },
);

test(
  "Fourier transforms of sizes with small and large factors, along any dimension",
  options,
  async () => {
    const p = playing();
    for (const size of [1, 2, 3, 4, 5, 8, 12, 16, 30, 37, 64, 100, 243, 256, 1000, 1147, 2048]) {
      for (const [outer, inner] of [
        [2, 1],
        [1, 3],
        [2, 2],
      ]) {
        const numbers = randoms(2 * outer * size * inner, size);
        const x = complex(numbers, [outer, size, inner]);
        for (const inverse of [false, true]) {
          const memory = view(p, numbers);
          const fields = { rows: rows([outer, size, inner]), inverse, scale: 1 / size, x: memory };
          p.kernel("fft", fields);
          const expected = inverse ? eg.ifft(x, null, 1) : eg.fft(x, null, 1, "forward");
          const title = `${outer} ${size} ${inner} ${inverse}`;
          assertNear(await p.read(memory), partsOf(expected), title);
        }
      }
    }
  },
);
