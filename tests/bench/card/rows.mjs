// What is measured of a graphics card, in three sizes: "full" for a card, "small" for an adapter that computes on the CPU, and "tiny"
// for tests. A row names a method of the libraries (`kind`), its arguments, and the work of a call, from which a rate follows.

import { randomImages, startingCnn, startingMlp } from "../data.mjs";
import { startingGpt, tokenBatches } from "../gpt.mjs";

const kFloat = 4; // bytes

const kProducts = {
  full: [
    { m: 512, n: 512, k: 512 },
    { m: 1024, n: 1024, k: 1024 },
    { m: 2048, n: 2048, k: 2048 },
    { m: 4096, n: 4096, k: 4096 },
    { m: 2048, n: 2048, k: 2048, isATransposed: true },
    { m: 2048, n: 2048, k: 2048, isBTransposed: true },
    { m: 256, n: 256, k: 256, batch: 64 },
    { m: 64, n: 4096, k: 4096 },
    { m: 1, n: 4096, k: 4096 },
    { m: 64, n: 64, k: 65536 },
  ],
  small: [
    { m: 256, n: 256, k: 256 },
    { m: 512, n: 512, k: 512 },
    { m: 512, n: 512, k: 512, isATransposed: true },
    { m: 512, n: 512, k: 512, isBTransposed: true },
    { m: 64, n: 64, k: 64, batch: 16 },
    { m: 64, n: 512, k: 1024 },
    { m: 1, n: 1024, k: 1024 },
    { m: 32, n: 32, k: 8192 },
  ],
  tiny: [{ m: 32, n: 32, k: 32 }],
};

const kConvolutions = {
  full: [
    { batch: 16, inputs: 64, outputs: 64, size: 56, kernel: 3 },
    { batch: 16, inputs: 256, outputs: 256, size: 14, kernel: 3 },
    { batch: 16, inputs: 64, outputs: 256, size: 56, kernel: 1 },
  ],
  small: [
    { batch: 4, inputs: 16, outputs: 32, size: 28, kernel: 3 },
    { batch: 4, inputs: 32, outputs: 64, size: 28, kernel: 1 },
  ],
  tiny: [{ batch: 1, inputs: 2, outputs: 4, size: 8, kernel: 3 }],
};

/** Floats of the operands whose memory is measured. */
const kFloats = { full: 2 ** 24, small: 2 ** 20, tiny: 2 ** 10 };

/** Multiply-adds of the plain shader that measures the rate of arithmetic, per invocation. */
const kSteps = { full: 4096, small: 64, tiny: 8 };

const kAdam = { name: "adam", rate: 0.001 };

function mlp(widths, batch) {
  return {
    title: `MLP ${widths.join("-")}, Adam, batch ${batch}`,
    task: { model: "mlp", layers: () => startingMlp(widths), optimizer: kAdam },
    batches: () => randomImages(4, batch),
  };
}

function cnn(channels, batch) {
  return {
    title: `CNN of ${channels.join(", ")} channels, 3x3, Adam, batch ${batch}`,
    task: {
      model: "cnn",
      layers: () => startingCnn({ channels, kernel: 3, padding: 1 }),
      optimizer: kAdam,
    },
    batches: () => randomImages(4, batch),
  };
}

function gpt(blocks, width, context, batch) {
  const shape = { vocabulary: 65, context, width, heads: Math.max(1, width / 64), blocks };
  return {
    title: `GPT, ${blocks} blocks of width ${width}, ${context} tokens, batch ${batch}`,
    task: {
      model: "gpt",
      layers: () => startingGpt(shape),
      optimizer: { name: "adamw", rate: 0.001 },
    },
    batches: () => tokenBatches(shape, 4, batch),
  };
}

const kTrainings = {
  full: () => [
    mlp([784, 512, 256, 10], 64),
    mlp([784, 4096, 4096, 10], 64),
    cnn([32, 64, 64], 32),
    gpt(2, 64, 64, 8),
    gpt(6, 384, 256, 8),
  ],
  small: () => [mlp([784, 512, 256, 10], 64), cnn([8, 16], 16), gpt(2, 64, 64, 8)],
  tiny: () => [mlp([784, 8, 10], 4), cnn([2, 2], 2), gpt(1, 16, 8, 1)],
};

/** The sizes. */
export const kSizes = Object.keys(kProducts);

function productRow(shape) {
  const { m, n, k, batch = 1, isATransposed, isBTransposed } = shape;
  const [a, b] = [`${m} x ${k}`, `${k} x ${n}`];
  const names = [isATransposed ? `(${k} x ${m})ᵀ` : a, isBTransposed ? `(${n} x ${k})ᵀ` : b];
  const title = `matmul ${batch > 1 ? `${batch} times ` : ""}${names.join(" · ")}`;
  return { title, unit: "GFLOPS", kind: "product", given: shape, work: 2 * batch * m * n * k };
}

function convolutionRow(shape) {
  const { batch, inputs, outputs, size, kernel } = shape;
  return {
    title: `conv2d ${kernel}x${kernel}, ${inputs} to ${outputs} channels, ${size} x ${size}, batch ${batch}`,
    unit: "GFLOPS",
    kind: "convolution",
    given: shape,
    work: 2 * batch * inputs * outputs * (size * kernel) ** 2,
  };
}

function memoryRow(kind, title, count, accesses) {
  const size = `${Number(((kFloat * count) / 2 ** 20).toPrecision(2))} MiB`;
  const work = kFloat * count * accesses;
  return { title: `${title} of ${size}`, unit: "GB/s", kind, given: { count }, work };
}

/** Returns the rows of a size: {id, title, unit, kind, given, work}. */
export function rowsOf(size) {
  const count = kFloats[size];
  const steps = kSteps[size];
  const rows = [
    {
      title: "multiply-adds on registers",
      unit: "GFLOPS",
      kind: "arithmetic",
      given: { steps, invocations: count / 16 },
      work: 2 * 32 * steps * (count / 16),
    },
    ...kProducts[size].map(productRow),
    ...kConvolutions[size].map(convolutionRow),
    memoryRow("copy", "copy", count, 2),
    memoryRow("sum", "x + y", count, 3),
    ...kTrainings[size]().map((training) => ({
      title: training.title,
      unit: "steps/s",
      kind: "training",
      given: training,
      work: 1,
    })),
  ];
  return rows.map((row, id) => ({ id, ...row }));
}
