// Products of float16 on GPUs: of matrices in float16, and of what the engine has converted to float32 for them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, randoms, range } from "./support/close.mjs";
import { arrayOf, devices, options, Playing, playing, posing, webgpu } from "./support/playing.mjs";
import { checkProduct } from "./support/products.mjs";
import { replacing } from "./support/replacing.mjs";

const { kTileClasses, kTileShapes } = webgpu;
const kHalves = ["float16", "float16"];
const kLayouts = ["NN", "NT", "TN", "TT"];

const hasHalves = devices.hardware?.features.has("shader-f16");
const withHalves = {
  skip: options.skip || (!hasHalves && "the adapter does not have shader-f16"),
};

/** Returns the device with other features. */
const having = (features, on = devices.hardware) =>
  on && replacing(on, { features: () => new Set(features) });

const onWithout = having([]);

/** Products of all kinds: in tiles with edges, in fours and not, split, with few lines, and in lanes. */
async function checkAll(p, layouts, dtypes) {
  for (const layout of layouts) {
    await checkProduct(p, { m: 33, n: 29, k: 19, layout, batch: 3, dtypes });
    await checkProduct(p, { m: 36, n: 60, k: 20, layout, lead: 4, batch: 2, dtypes });
    await checkProduct(p, { m: 40, n: 36, k: 1028, layout, beta: 0.5, dtypes });
    await checkProduct(p, { m: 3, n: 40, k: 64, layout, dtypes });
    await checkProduct(p, { m: 44, n: 2, k: 30, layout, dtypes });
  }
}

describe("with shader-f16", withHalves, () => {
  for (const keepsHalves of [true, false]) {
    const title = keepsHalves ? "kept in workgroup memory" : "converted on the way there";

    const playingWith = (shape) => {
      const vendor = `${JSON.stringify(shape)} ${keepsHalves}`;
      kTileClasses[vendor] = { shapes: [shape], busy: 4, keepsHalves };
      return playing(posing(vendor));
    };

    test(`float16 ${title}, in every layout`, async () => {
      await checkAll(playingWith(kTileShapes.k32), kLayouts, kHalves);
    });

    test(`float16 ${title}, in every shape`, async () => {
      for (const shape of Object.values(kTileShapes))
        await checkProduct(playingWith(shape), {
          m: 132,
          n: 136,
          k: 20,
          layout: "NT",
          dtypes: kHalves,
        });
    });

    test(`float16 ${title}, beside other floats`, async () => {
      for (const dtypes of [
        ["float16", "float32"],
        ["float32", "float16"],
      ])
        await checkAll(playingWith(kTileShapes.k32), ["NN"], dtypes);
    });
  }

  test("sums are of float32, and products are exact", async () => {
    const p = playing(devices.hardware);
    const fill = (values) => p.view("float16", values);
    // Beyond the largest float16, and below the distance between two of them.
    for (const [x, y] of [
      [2048, 512],
      [1 + 2 ** -10, 1 - 2 ** -11],
    ]) {
      const [a, b] = [x, y].map((value) => fill(range(160, () => value)));
      const c = p.empty("float32", 1600);
      product(p, [40, 40, 4], a, b, c);
      assert.deepEqual(
        await p.read(c),
        range(1600, () => 4 * x * y),
      );
    }
  });

  test("convolutions and attention compute the same from float16 as from copies of it", async () => {
    const results = [];
    for (const on of [devices.hardware, onWithout]) {
      const p = new Playing({ on });
      results.push([...(await convolutions(p)), ...(await attentions(p))]);
    }
    const [found, expected] = results;
    for (const [i, numbers] of found.entries()) assertClose(numbers, expected[i]);
  });
});

function product(p, [m, n, k], a, b, c) {
  const layout = (rowStride) => ({ batchStrides: [], rowStride, columnStride: 1 });
  p.kernel("matrix_product", {
    ...{ sizes: { batch: [], m, n, k }, alpha: 1, beta: 0 },
    ...{ a, aLayout: layout(k), b, bLayout: layout(n), c, cLayout: layout(n) },
  });
}

const copy = (p, to, from, shape = [from.count], toStrides = [1], fromStrides = toStrides) =>
  p.kernel("copy", { shape, to, toStrides, from, fromStrides });

/** Returns a float32 copy of new float16 numbers. */
function widened(p, count, seed) {
  const from = p.view(
    "float16",
    randoms(count, seed).map((x) => Math.round(64 * x) / 64),
  );
  const to = p.empty("float32", count);
  copy(p, to, from);
  return to;
}

async function convolutions(p) {
  const results = [];
  for (const { size, kernel, padding, groups } of [
    { size: 9, kernel: 3, padding: 1, groups: 1 },
    { size: 8, kernel: 1, padding: 0, groups: 1 },
    { size: 7, kernel: 3, padding: 0, groups: 8 },
  ]) {
    const [batch, channels] = [2, 8];
    const out = size + 2 * padding - kernel + 1;
    const conv = {
      ...{ batch, groups, inChannels: channels, outChannels: channels },
      ...{ in: [size, size], kernel: [kernel, kernel], out: [out, out] },
      ...{ stride: [1, 1], padding: [padding, padding], dilation: [1, 1] },
    };
    const x = widened(p, batch * channels * size * size, 1);
    const weight = widened(p, (channels * channels * kernel * kernel) / groups, 2);
    const gradY = widened(p, batch * channels * out * out, 3);
    const [y, gradX, gradWeight] = [gradY, x, weight].map(({ count }) => p.empty("float32", count));
    p.kernel("convolve", { conv, x, weight, y });
    p.kernel("convolve_backward_input", { conv, gradY, weight, gradX });
    p.kernel("convolve_backward_weight", { conv, gradY, x, gradWeight });
    for (const result of [y, gradX, gradWeight]) results.push(await p.read(result));
  }
  return results;
}

async function attentions(p) {
  const results = [];
  for (const features of [16, 10]) {
    const [queries, keys] = [20, 37];
    const memory = (rows, seed) => ({
      memory: widened(p, rows * features, seed),
      strides: [features, 1],
    });
    const attention = {
      ...{
        batch: [],
        queries,
        keys,
        features,
        valueFeatures: features,
        isCausal: false,
        scale: 0.25,
      },
      ...{ query: memory(queries, 1), key: memory(keys, 2), value: memory(keys, 3) },
      mask: { strides: [] },
    };
    const gradY = memory(queries, 4);
    const [y, gradQuery] = range(2, () => p.empty("float32", queries * features));
    const [gradKey, gradValue] = range(2, () => p.empty("float32", keys * features));
    const logSums = p.empty("float32", queries);
    p.kernel("attend", { attention, y, yStrides: [features, 1], logSums });
    p.kernel("attend_backward", { attention, gradY, logSums, gradQuery, gradKey, gradValue });
    for (const result of [y, gradQuery, gradKey, gradValue]) results.push(await p.read(result));
  }
  return results;
}

// What follows tests the texts of shaders; devices that claim to have the feature compile others.

const kNothing = "@compute @workgroup_size(1) fn main() {}";

/** Plays what `play` adds to the stream; resolves to the texts of the shaders of matrix products, in the order of their first use. */
async function productsOf(features, play) {
  const texts = [];
  const on = replacing(having(features), {
    createShaderModule:
      (device) =>
      ({ label, code }) => {
        if (label === "matrix_product") texts.push(code);
        return device.createShaderModule({ label, code: kNothing });
      },
  });
  const p = new Playing({ on });
  const half = p.view("float16", range(64));
  const wide = p.empty("float32", 64);
  const c = p.empty("float32", 64);
  const multiply = () => product(p, [8, 8, 8], wide, wide, c);
  await play({ p, half, wide, multiply });
  await p.read(c);
  return texts;
}

const readsHalves = (text) => /^enable f16;\n/.test(text) && text.includes("vec4<f16>");

test("only shaders for devices with shader-f16 contain it", options, async () => {
  const copied = ({ p, half, wide, multiply }) => {
    copy(p, wide, half);
    multiply();
  };
  // The one that is compiled while the copy waits for its own is the one that is used.
  const texts = await productsOf(["shader-f16"], copied);
  assert.deepEqual(texts.map(readsHalves), [true]);
  const [other] = await productsOf([], copied);
  assert.ok(!/\bf16\b/.test(other), other);
});

const whole = ({ p, half, wide }) => copy(p, wide, half);

/** What is in memory when a product reads its copy, by whether it may read the original. */
const kHistories = {
  true: {
    "a copy": whole,
    "a copy with the same strides": ({ p, half, wide }) => copy(p, wide, half, [8, 8], [1, 8]),
    "a copy that was made again": (all) => {
      whole(all);
      all.p.stream.write(all.half.block, 0, arrayOf("float16", range(64)));
      whole(all);
    },
    "an original that was freed": (all) => {
      whole(all);
      all.p.stream.free(all.half.block);
    },
    "a copy in the same recording": (all) => {
      all.p.stream.beginRecording(1);
      whole(all);
    },
  },
  false: {
    "other numbers": () => undefined,
    "an original that was written": (all) => {
      whole(all);
      all.p.stream.write(all.half.block, 0, arrayOf("float16", [5, 6]));
    },
    "an original that a kernel changed": (all) => {
      whole(all);
      copy(all.p, all.half, all.p.view("float16", [3]));
    },
    "a copy that was written": (all) => {
      whole(all);
      all.p.stream.write(all.wide.block, 0, arrayOf("float32", [1e-9]));
    },
    "a copy that a kernel changed": (all) => {
      whole(all);
      all.p.kernel("fill", { y: all.wide, value: 0.1, count: 1 });
    },
    "an original whose memory has another use": (all) => {
      whole(all);
      all.p.stream.use(all.half.block, 128);
    },
    "an original whose memory is that of another block": (all) => {
      whole(all);
      all.p.stream.free(all.half.block);
      all.p.view("float16", range(64));
    },
    "a part of a copy": ({ p, half, wide }) => copy(p, wide, half, [63]),
    "a transposed copy": ({ p, half, wide }) => copy(p, wide, half, [8, 8], [8, 1], [1, 8]),
    "a copy of bfloat16": ({ p, half, wide }) => copy(p, wide, { ...half, dtype: "bfloat16" }),
    "a copy from before a recording": (all) => {
      whole(all);
      all.p.stream.beginRecording(1);
    },
    "a copy in an earlier recording": (all) => {
      all.p.stream.beginRecording(1);
      whole(all);
      all.p.stream.endRecording();
      all.p.stream.playRecording(1);
    },
  },
};

for (const [isOriginal, histories] of Object.entries(kHistories)) {
  for (const [name, make] of Object.entries(histories)) {
    test(
      `a product reads ${isOriginal === "true" ? "the original" : "no original"}: ${name}`,
      options,
      async () => {
        const texts = await productsOf(["shader-f16"], async (all) => {
          make(all);
          // Shaders of what follows in a batch are compiled ahead, also where a later command changes what they would read.
          await all.p.play();
          all.multiply();
          if (name.includes("recording")) all.p.stream.endRecording();
        });
        assert.deepEqual(texts.map(readsHalves), [isOriginal === "true"]);
      },
    );
  }
}

test("a repeated product reads the original until that changes", options, async () => {
  const texts = await productsOf(["shader-f16"], async ({ p, half, wide, multiply }) => {
    for (let i = 0; i < 4; i++) {
      copy(p, wide, half);
      multiply();
      await p.play();
    }
    p.stream.write(half.block, 0, arrayOf("float16", [7, 8]));
    await p.play();
    multiply();
  });
  assert.deepEqual(texts.map(readsHalves), [true, false]);
});

test("a product of complex numbers reads no original of their parts", options, async () => {
  const texts = await productsOf(["shader-f16"], async ({ p, half, wide }) => {
    copy(p, wide, half);
    const numbers = { ...wide, dtype: "complex64" };
    product(p, [4, 4, 8], numbers, numbers, { ...p.empty("complex64", 16), dtype: "complex64" });
  });
  assert.deepEqual(texts.map(readsHalves), [false]);
});

test("a device is asked for no feature that the adapter does not have", async () => {
  for (const features of [[], ["shader-f16"], ["shader-f16", "subgroups", "something-else"]]) {
    let asked;
    const adapter = {
      ...{ limits: new Proxy({}, { get: () => 2 ** 28 }), info: {}, features: new Set(features) },
      requestDevice: async ({ requiredFeatures }) => {
        asked = requiredFeatures;
      },
    };
    // There is none.
    await assert.rejects(webgpu.openDevice({ requestAdapter: async () => adapter }), /GPUDevice/);
    assert.ok(asked.every((feature) => features.includes(feature)));
    assert.equal(asked.includes("shader-f16"), features.includes("shader-f16"));
  }
});
