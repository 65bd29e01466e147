// edgegrad/onnx: ONNX models as trainable modules.

export type { GraphValue } from "./interface.js";
export { type LoadOptions, load } from "./load.js";
export { OnnxModule, type OnnxResult } from "./module.js";
export { type SupportedOp, supportedOps } from "./ops/index.js";
export type { Source } from "./source.js";
export type { ExternalData } from "./tensors/external.js";
