// interpolate() with antialias: its numbers are those of Pillow's and PyTorch's rule on plain numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

const range = (count) => Array.from({ length: count }, (_, i) => i);

const kFilters = {
  bilinear: [1, (x) => Math.max(0, 1 - Math.abs(x))],
  bicubic: [
    2,
    (x) => {
      const [a, d] = [-0.5, Math.abs(x)];
      if (d < 1) return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1;
      return d < 2 ? a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a : 0;
    },
  ],
};

/** A row of numbers resampled to `to` of them, `scale` old for one new. */
function line(row, to, scale, mode) {
  const [reach, filter] = kFilters[mode];
  const width = Math.max(scale, 1);
  return range(to).map((i) => {
    const center = scale * (i + 0.5);
    const from = Math.max(0, Math.trunc(center - reach * width + 0.5));
    const end = Math.min(row.length, Math.trunc(center + reach * width + 0.5));
    const weights = range(end - from).map((k) => filter((from + k - center + 0.5) / width));
    const sum = weights.reduce((all, one) => all + one, 0);
    return weights.reduce((all, one, k) => all + (one / sum) * row[from + k], 0);
  });
}

const turned = (rows) => rows[0].map((_, i) => rows.map((row) => row[i]));
const plane = (rows, [tall, wide], [down, across], mode) => {
  const narrow = rows.map((row) => line(row, wide, across, mode));
  return turned(turned(narrow).map((column) => line(column, tall, down, mode)));
};

const image = eg.randn([2, 3, 9, 14], { generator: new eg.Generator(5), dtype: "float64" });
const wanted = (size, scale, mode) =>
  eg.tensor(
    image.arraySync().map((one) => one.map((rows) => plane(rows, size, scale, mode))),
    { dtype: "float64" },
  );
const near = { rtol: 1e-9, atol: 1e-12 };

for (const mode of ["bilinear", "bicubic"]) {
  describe(`${mode} with antialias`, () => {
    const check = (options, size, scale) => {
      const own = eg.interpolate(image, { mode, antialias: true, ...options });
      eg.testing.assertClose(own, wanted(size, scale, mode), near);
    };

    test("makes images smaller and larger", () => {
      check({ size: [4, 5] }, [4, 5], [9 / 4, 14 / 5]);
      check({ size: [20, 5] }, [20, 5], [9 / 20, 14 / 5]);
      check({ size: [9, 14] }, [9, 14], [1, 1]);
      check({ size: 3 }, [3, 3], [3, 14 / 3]);
      check({ size: [1, 1] }, [1, 1], [9, 14]);
    });

    test("takes factors, which count themselves unless the ratio of the sizes does", () => {
      check({ scaleFactor: 0.4 }, [3, 5], [2.5, 2.5]);
      check({ scaleFactor: [0.4, 1.5] }, [3, 21], [2.5, 1 / 1.5]);
      check({ scaleFactor: 0.4, recomputeScaleFactor: true }, [3, 5], [3, 14 / 5]);
    });

    test("aligns corners as PyTorch does", () => {
      check({ size: [4, 5], alignCorners: true }, [4, 5], [8 / 3, 13 / 4]);
      check({ size: [4, 1], alignCorners: true }, [4, 1], [8 / 3, 0]);
    });

    test("has gradients of any order, and half precision", () => {
      const x = image.detach().narrow(0, 0, 1).requiresGrad_();
      const fn = (one) => eg.nn.functional.interpolate(one, [4, 6], { mode, antialias: true });
      assert.ok(eg.autograd.gradcheck(fn, [x]));
      const half = fn(image.to("float16"));
      assert.equal(half.dtype, "float16");
      eg.testing.assertClose(half.double(), fn(image), { rtol: 0.01, atol: 0.01 });
    });

    test("works under vmap", () => {
      const fn = (one) => eg.interpolate(one, { size: [4, 5], mode, antialias: true });
      const stacked = eg.func.vmap(fn)(image.unsqueeze(1));
      eg.testing.assertClose(stacked.squeeze(1), fn(image), near);
    });
  });
}

test("a plane of equal numbers stays so", () => {
  const flat = eg.full([1, 1, 50, 70], 0.3);
  for (const mode of ["bilinear", "bicubic"]) {
    const small = eg.interpolate(flat, { size: [7, 9], mode, antialias: true });
    eg.testing.assertClose(small, eg.full([1, 1, 7, 9], 0.3));
  }
});

test("images without pixels, and none at all", () => {
  const options = { size: [4, 5], mode: "bilinear", antialias: true };
  assert.deepEqual(eg.interpolate(eg.ones([0, 3, 8, 8]), options).shape, [0, 3, 4, 5]);
  assert.throws(() => eg.interpolate(eg.ones([1, 3, 0, 8]), options), { code: "InvalidArgument" });
});

test("refused are other modes, dimensions, dtypes and sizes", () => {
  const refuses = (code, message, ...given) =>
    assert.throws(() => eg.interpolate(...given), { code, message });
  const plane = eg.ones([1, 1, 4, 4]);
  const aa = { antialias: true, mode: "bilinear" };
  refuses("InvalidArgument", /antialias requires.*"nearest"/, plane, { size: 2, antialias: true });
  refuses("InvalidArgument", /4 dimensions/, eg.ones([1, 1, 4]), { ...aa, size: 2 });
  refuses("DtypeMismatch", /floating-point, got int32/, eg.ones([1, 1, 4, 4], { dtype: "int32" }), {
    ...aa,
    size: 2,
  });
  refuses("InvalidArgument", /size or scaleFactor is required/, plane, aa);
  refuses("InvalidArgument", /cannot be combined/, plane, { ...aa, size: 2, scaleFactor: 2 });
  refuses("InvalidArgument", /size/, plane, { ...aa, size: 0 });
  refuses("InvalidArgument", /scaleFactor/, plane, { ...aa, scaleFactor: "2" });
});
