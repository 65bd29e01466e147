// eg.testing.assertClose(): tolerances, messages, and the values that it compares.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { assertClose } = eg.testing;
const refuses = (actual, expected, options, text = /./, code = "InvalidArgument") => {
  assertThrows(() => assertClose(actual, expected, options), code, text);
};

// As documented for torch.testing.assert_close.
const kTolerances = {
  float16: [1e-3, 1e-5],
  bfloat16: [1.6e-2, 1e-5],
  float32: [1.3e-6, 1e-5],
  float64: [1e-7, 1e-7],
  complex64: [1.3e-6, 1e-5],
  complex128: [1e-7, 1e-7],
};

describe("the tolerance of", () => {
  for (const [dtype, [rtol, atol]] of Object.entries(kTolerances)) {
    test(dtype, () => {
      const allowed = `allowed are atol ${atol === 1e-5 ? "0.00001" : atol} + rtol `;
      const shown = rtol === 1.3e-6 ? "0.0000013" : String(rtol);
      const [one, three] = [1, 3].map((value) => eg.full([2], value, { dtype }));
      refuses(one, three, {}, new RegExp(`${allowed.replace("+", "\\+")}${shown} `));
    });
  }

  test("numbers of each size is atol + rtol * |expected|", () => {
    const doubles = (value) => eg.tensor([value], { dtype: "float64" });
    for (const expected of [0, 1, -1e6]) {
      const limit = 1e-7 + 1e-7 * Math.abs(expected);
      assertClose(doubles(expected + 0.99 * limit), doubles(expected));
      refuses(doubles(expected + 1.01 * limit), doubles(expected));
    }
    assertClose(doubles(1.5), doubles(1), { rtol: 0, atol: 0.5 });
    refuses(doubles(1.5), doubles(1), { rtol: 0.4, atol: 0 });
  });

  test("integers and booleans is none", () => {
    for (const dtype of ["int32", "int64", "uint8"]) {
      refuses(eg.tensor([100, 1], { dtype }), eg.tensor([101, 1], { dtype }), {}, /must be equal/);
    }
    const large = 2n ** 62n;
    assertClose(eg.tensor([large]), eg.tensor([large]));
    refuses(eg.tensor([large]), eg.tensor([large + 1n]), {}, /got 4611686018427387904, expected/);
    assertClose(eg.tensor([large]), eg.tensor([large + 1n]), { rtol: 0, atol: 1 });
    refuses(eg.tensor([true, false]), [true, true], {}, /at \[1\]: got false, expected true/);
  });

  test("numbers is that of float64, of whole numbers none", () => {
    assertClose(0.1 + 0.2, 0.3);
    refuses(0.1, 0.1001);
    refuses(100_000_000, 100_000_001);
    assertClose(2n ** 60n, 2n ** 60n);
    refuses(2n ** 60n, 2n ** 60n + 1n);
  });

  test("one half only is refused", () => {
    refuses(1, 1, { atol: 1 }, /atol was given without rtol/);
    refuses(1, 1, { rtol: 1 }, /rtol was given without atol/);
    refuses(1, 1, { tolerance: 1 }, /unknown option "tolerance"/);
  });
});

describe("special values", () => {
  test("NaN is close to NaN on request", () => {
    const x = eg.tensor([1, Number.NaN]);
    refuses(x, x, {}, /NaN is close to NaN only with the option equalNan: true/);
    assertClose(x, x.clone(), { equalNan: true });
    refuses(x, [1, 2], { equalNan: true }, /at \[1\]: got NaN, expected 2/);
  });

  test("an infinity is close to itself alone", () => {
    const { POSITIVE_INFINITY: up, NEGATIVE_INFINITY: down } = Number;
    assertClose(eg.tensor([up, down]), [up, down]);
    refuses(eg.tensor([up]), [down]);
    refuses(eg.tensor([1e30]), [up], { rtol: 1, atol: 1 });
    refuses(eg.tensor([up]), [1e30], { rtol: 1, atol: 1 });
  });
});

test("the message counts, measures and lists the differences", () => {
  const actual = eg.tensor([
    [1, 2, 8],
    [3, 4, 5],
  ]);
  const message = [
    "[assertClose] 2 of 6 elements (33.3 %) are not close, allowed are atol 0.00001 + rtol 0.0000013 * |expected|.",
    "The largest absolute difference is 4, at [0, 2].",
    "The largest relative difference is 3, at [1, 1].",
    "  at [0, 2]: got 8, expected 4",
    "  at [1, 1]: got 4, expected 1",
  ].join("\n");
  assert.throws(
    () =>
      assertClose(actual, [
        [1, 2, 4],
        [3, 1, 5],
      ]),
    { message },
  );
  refuses(eg.ones([100]), eg.zeros([100]), {}, /at \[4\].*\n {2}and 95 more$/s);
  refuses(
    eg.complex(eg.ones([1]), eg.ones([1])),
    [{ re: 1, im: -1 }],
    {},
    /1 \+ 1i, expected 1 - 1i/,
  );
  refuses(1, 2, { msg: "no" }, /^\[assertClose\] no$/);
  refuses(1, 2, { msg: (usual) => `layer 3: ${usual}` }, /layer 3: got 1, expected 2/);
});

test("tensors must have the same shape, dtype and device", () => {
  refuses(eg.ones([2]), eg.ones([1, 2]), {}, /shape \[2\], expected \[1, 2\]/, "ShapeMismatch");
  refuses(eg.ones([1]), eg.ones([1], { dtype: "float64" }), {}, /float64/, "DtypeMismatch");
  assertClose(eg.ones([1]), eg.ones([1], { dtype: "int64" }), { checkDtype: false });
  // The tolerance is that of the less precise dtype.
  const wide = eg.tensor([1 + 1e-6], { dtype: "float64" });
  assertClose(eg.ones([1]), wide, { checkDtype: false, checkDevice: false });
});

describe("structures", () => {
  test("are compared part by part", () => {
    const made = (last) => ({
      name: "net",
      layers: [{ weight: eg.ones([2]), steps: 3 }, new Map([["k", eg.tensor(last)]])],
      none: null,
    });
    assertClose(made(1), made(1));
    refuses(made(1), made(2), {}, /at \.layers\[1\]\.k: got 1, expected 2/);
    refuses({ a: 1 }, { a: 1, b: 2 }, {}, /at \.b: is missing/);
    refuses({ a: 1, b: 2 }, { a: 1 }, {}, /at \.b: is not expected/);
    refuses([1], { 0: 1 }, {}, /got an array, expected an object/);
    refuses("a", "b", {}, /got "a", expected "b"/);
    refuses(null, undefined, {}, /got null, expected undefined/);
  });

  test("of numbers are compared with tensors, and typed arrays are tensors", () => {
    assertClose(eg.tensor([[1, 2]], { dtype: "float64" }), [[1, 2]]);
    assertClose(3, eg.tensor(3));
    assertClose(new Float32Array([1, 2]), eg.tensor([1, 2]));
    refuses(new Float64Array([1, 2]), eg.tensor([1, 2]), {}, /float64/, "DtypeMismatch");
    refuses(eg.ones([1]), "1", {}, /class Tensor, expected "1"/);
    refuses(undefined, eg.ones([1]), {}, /got undefined/);
  });

  test("that contain themselves are refused", () => {
    const loop = { x: 1 };
    loop.own = loop;
    refuses(loop, loop, {}, /at \.own: contains itself/);
    const shared = { x: 1 };
    assertClose([shared, shared], [shared, shared]);
  });

  test("leave no tensors behind", () => {
    const x = eg.ones([3]);
    const { jsHandles } = eg.memory();
    assertClose({ x }, { x: [1, 1, 1] });
    refuses({ x }, { x: [1, 1, 2] });
    assert.equal(eg.memory().jsHandles, jsHandles);
  });
});
