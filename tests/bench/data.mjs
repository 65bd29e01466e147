// The data of every library: sizes, random numbers, images, and starting weights that are the same for all. Works in pages too;
// mnist.mjs reads the images of MNIST.

export const kPixels = 784;
export const kClasses = 10;

/** Returns batches of {x: Float32Array of 0..1, labels: Uint8Array} with random pixels. */
export function randomImages(count, size) {
  return Array.from({ length: count }, (_, i) => ({
    x: randomNumbers(size * kPixels, i + 1).map((x) => x + 0.5),
    labels: Uint8Array.from({ length: size }, (_, j) => (i + 3 * j) % kClasses),
  }));
}

export function oneHot(labels, classes = kClasses) {
  const rows = new Float32Array(labels.length * classes);
  labels.forEach((label, i) => {
    rows[i * classes + label] = 1;
  });
  return rows;
}

/** Returns the layers of a multilayer perceptron with these widths. */
export function startingMlp(sizes) {
  return sizes.slice(1).map((outputs, i) => startingLayer(sizes[i], outputs, i + 1));
}

/** Returns convolutions, each followed by ReLU and 2 x 2 pooling, and a linear layer, for images of 28 x 28. */
export function startingCnn({ channels, kernel, padding }) {
  const inputsOf = (i) => channels[i - 1] ?? 1;
  const sideAfter = (side) => Math.floor((side + 2 * padding - kernel + 1) / 2);
  const side = channels.reduce(sideAfter, Math.sqrt(kPixels));
  return {
    padding,
    convolutions: channels.map((outputs, i) => ({
      shape: [outputs, inputsOf(i), kernel, kernel],
      ...startingLayer(inputsOf(i) * kernel * kernel, outputs, i + 1),
    })),
    head: startingLayer(channels.at(-1) * side * side, kClasses, channels.length + 1),
  };
}

/** Returns {inputs, outputs, weight: [outputs, inputs] in row-major order, bias}, uniform within 1 / sqrt(inputs) as in PyTorch. */
export function startingLayer(inputs, outputs, seed) {
  const scale = 2 / Math.sqrt(inputs);
  const uniform = (count, from) => randomNumbers(count, from).map((x) => x * scale);
  return {
    inputs,
    outputs,
    weight: uniform(outputs * inputs, seed),
    bias: uniform(outputs, seed + 1000),
  };
}

/** Returns a weight transposed to [inputs, outputs], as needed for x @ w. */
export function transposedWeight({ inputs, outputs, weight }) {
  const result = new Float32Array(weight.length);
  for (let row = 0; row < outputs; ++row) {
    for (let column = 0; column < inputs; ++column) {
      result[column * outputs + row] = weight[row * inputs + column];
    }
  }
  return result;
}

/** Returns random numbers from -0.5 to 0.5. */
export function randomNumbers(count, seed) {
  const random = mulberry32(seed);
  return Float32Array.from({ length: count }, () => random() - 0.5);
}

function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
