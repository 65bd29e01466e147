// Rare ops of ONNX's own domain, in a file that is loaded only for models that use them.

import type { Ops } from "../op.js";
import { kDeformable } from "./deformable.js";
import { kDetection } from "./detection.js";
import { kSignals } from "./signals.js";
import { kText } from "./text.js";

export const kRareOps: Ops = { ...kDeformable, ...kDetection, ...kSignals, ...kText };
