// eg.fromImage() of the bytes of pictures, and eg.toCanvas(), on the CPU; tests/browser/webgpu_pictures has those of a browser.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kBytes = [255, 0, 51, 255, 0, 102, 0, 0];
const picture = (data = kBytes, width = 2, height = 1) => ({
  data: Uint8ClampedArray.from(data),
  width,
  height,
});
const valuesOf = (...given) => {
  const x = eg.fromImage(...given);
  return { shape: x.shape, values: [...x.dataSync()] };
};

describe("eg.fromImage()", () => {
  test("has the channels of a picture from 0 to 1", () => {
    const { shape, values } = valuesOf(picture());
    assert.deepEqual(shape, [3, 1, 2]);
    assertClose(values, [1, 0, 0, 0.4, 0.2, 0]);
    assertClose(valuesOf(picture(), { channels: 4 }).values, [1, 0, 0, 0.4, 0.2, 0, 1, 0]);
    assertClose(valuesOf(picture(), { channels: 1 }).values, [0.2989 + 0.2 * 0.114, 0.4 * 0.587]);
  });

  test("scales and normalizes", () => {
    assertClose(valuesOf(picture(), { size: 1 }).values, [0.5, 0.2, 0.1]);
    assert.deepEqual(valuesOf(picture(), { size: [2, 4] }).shape, [3, 2, 4]);
    const normalize = { mean: [0.5, 0.2, 0.1], std: 0.1 };
    assertClose(valuesOf(picture(), { normalize }).values, [5, -5, -2, 2, 1, -1], { atol: 1e-5 });
  });

  test("refuses what is no picture, and options that are none, by name", () => {
    for (const source of [undefined, null, 7, "a.png", {}, { width: 2, height: Number.NaN }])
      assertThrows(
        () => eg.fromImage(source),
        "InvalidArgument",
        /^\[fromImage\] source: expected/,
      );
    const refused = [
      [picture(kBytes, 2, 2), {}, /source: expected 16 bytes of 2 x 2 pixels, got 8/],
      [picture([], 0, 0), {}, /source: it has no picture, its size is 0 x 0/],
      [{ width: 2, height: 1 }, {}, /source: without OffscreenCanvas, only ImageData/],
      [picture(), { size: 0 }, /size: expected/],
      [picture(), { size: [1, 2, 3] }, /size: expected/],
      [picture(), { size: [1] }, /size: expected/],
      [picture(), { size: 1.5 }, /size: expected/],
      [picture(), { channels: 2 }, /channels: expected 1, 3 or 4, got number 2/],
      [picture(), { device: "gpu" }, /device: expected/],
      [picture(), { normalize: 1 }, /normalize: expected/],
      [picture(), { normalize: { mean: 0 } }, /normalize: expected/],
      [picture(), { normalize: { mean: 0, std: 0 } }, /normalize: expected/],
      [picture(), { normalize: { mean: [0, Number.NaN, 0], std: 1 } }, /normalize: expected/],
      [picture(), { normalize: { mean: [0, 1], std: 1 } }, /normalize\.mean: .* 3 channels/],
      [picture(), { sizes: 1 }, /"sizes"/],
    ];
    const { tensors } = eg.memory();
    for (const [source, options, pattern] of refused)
      assertThrows(() => eg.fromImage(source, options), "InvalidArgument", pattern);
    assert.equal(eg.memory().tensors, tensors);
  });
});

/** A canvas that keeps what is put on it. */
function fakeCanvas(hasContext = true) {
  globalThis.ImageData ??= class {
    constructor(data, width, height) {
      Object.assign(this, { data, width, height });
    }
  };
  const canvas = { width: 1, height: 1, getContext: () => (hasContext ? context : null) };
  const context = { putImageData: (image) => Object.assign(canvas, { image }) };
  return canvas;
}

describe("eg.toCanvas()", () => {
  test("shows gray, RGB, RGBA and bytes, and clamps", async () => {
    for (const [x, right] of [
      [eg.tensor([[0, 2]]), [0, 0, 0, 255, 255, 255, 255, 255]],
      [eg.tensor([[[1, 0.2]], [[0, 0]], [[-1, 1]]]), [255, 0, 0, 255, 51, 0, 255, 255]],
      [eg.fromImage(picture(), { channels: 4 }), kBytes],
      [eg.tensor([[7, 8]], { dtype: "uint8" }), [7, 7, 7, 255, 8, 8, 8, 255]],
    ]) {
      const canvas = fakeCanvas();
      await eg.toCanvas(x, canvas);
      assert.deepEqual([canvas.width, canvas.height], [2, 1]);
      assert.deepEqual([...canvas.image.data], right);
    }
  });

  test("refuses what is no picture or no canvas, by name", async () => {
    for (const shape of [[2], [2, 3, 3], [1, 3, 2, 2], [3, 0, 2]])
      await assertRejects(
        eg.toCanvas(eg.zeros(shape), fakeCanvas()),
        "ShapeMismatch",
        /^\[toCanvas\]/,
      );
    const x = eg.zeros([2, 2]);
    await assertRejects(eg.toCanvas(x.long(), fakeCanvas()), "DtypeMismatch", /int64/);
    for (const canvas of [undefined, null, 7, {}, "canvas"])
      await assertRejects(eg.toCanvas(x, canvas), "InvalidArgument", /canvas: expected a canvas/);
    await assertRejects(eg.toCanvas(x, fakeCanvas(false)), "InvalidArgument", /no 2d context/);
    await assertRejects(eg.toCanvas(7, fakeCanvas()), "InvalidArgument", /tensor: expected/);
  });
});
