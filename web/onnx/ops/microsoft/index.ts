// The ops of ONNX Runtime's own domain that its optimiser and quantiser write.

import type { Ops } from "../op.js";
import { kMicrosoftAttention } from "./attention.js";
import { kMicrosoftLayers } from "./layers.js";
import { kMicrosoftQuantization } from "./quantization.js";

export { simplifiedLayerNormalization } from "./layers.js";

export const kMicrosoft: Ops = {
  ...kMicrosoftAttention,
  ...kMicrosoftLayers,
  ...kMicrosoftQuantization,
};
