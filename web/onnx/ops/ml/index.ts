// The ops of ai.onnx.ml: trees, linear models and labels, which scikit-learn's and other converters write.

import type { Ops } from "../op.js";
import { kLabelOps } from "./labels.js";
import { kLinearModels } from "./linear.js";
import { kSupportVectors } from "./support_vectors.js";
import { kTrees } from "./trees.js";

export const kMl: Ops = { ...kLabelOps, ...kLinearModels, ...kSupportVectors, ...kTrees };
