// Sample calls of every composite, written as those of the op table are (op_samples.mjs), by the composite's name.

import { kFourierSamples } from "./fourier_samples.mjs";
import { kImageSamples } from "./image_samples.mjs";
import { kMatrixSamples } from "./matrix_samples.mjs";

/** By the name of the function. */
const kSamples = {
  cumulativeTrapezoid: ["T([3, 4])", "T([3, 4]), T([4]), {dim: 1}"],
  trapezoid: ["T([3, 4])", "T([3, 4]), null, 0.5, 0", "T([3, 4]), T([3, 4])"],
  ...kFourierSamples,
  ...kImageSamples,
  ...kMatrixSamples,
};

/** The composites, as the op table has its ops. */
export const compositeTable = Object.entries(kSamples).map(([js, samples]) => ({
  js,
  name: js,
  kind: "composite",
  args: [],
  samples,
}));
