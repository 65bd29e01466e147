// edgegrad/onnx: ONNX models as trainable modules, and modules as ONNX models.

export type { OnnxDescription, OnnxInitializer, OnnxNode } from "./description.js";
export type { SaveOptions } from "./export/options.js";
export type { ExternalData } from "./files/external.js";
export type { FixedInput } from "./fixed_inputs.js";
export type { IsTrainable, OnnxTensor, TensorUse } from "./graph/hold.js";
export type { OnnxHeader } from "./header.js";
export { inspect } from "./inspect.js";
export type { GraphValue, OnnxResult } from "./interface.js";
export { type LoadOptions, load } from "./load.js";
export { OnnxModule } from "./module.js";
export { type SupportedOp, supportedOps } from "./ops/index.js";
export { save } from "./save.js";
export type { BlobSource, ResponseSource, Source, UrlSource } from "./source.js";
