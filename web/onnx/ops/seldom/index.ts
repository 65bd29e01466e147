// Ops of ONNX's own domain that few models have. They are in a file of their own, which is loaded for those.

import type { Ops } from "../op.js";
import { kDeformable } from "./deformable.js";
import { kDetection } from "./detection.js";
import { kSignals } from "./signals.js";
import { kText } from "./text.js";

export const kSeldom: Ops = { ...kDeformable, ...kDetection, ...kSignals, ...kText };
