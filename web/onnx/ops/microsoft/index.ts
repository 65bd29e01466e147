// The ops of the com.microsoft domain that ONNX Runtime's optimizer and quantizer write.

import type { Ops } from "../op.js";
import { kMicrosoftAttention } from "./attention.js";
import { kMicrosoftLayers } from "./layers.js";
import { kMicrosoftQuantization } from "./quantization.js";

/** The ops by name. */
export const kMicrosoft: Ops = {
  ...kMicrosoftAttention,
  ...kMicrosoftLayers,
  ...kMicrosoftQuantization,
};
