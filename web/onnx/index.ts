// edgegrad/onnx: ONNX models as trainable modules.

export type { SaveOptions } from "./export/options.js";
export { save } from "./export/save.js";
export { load } from "./load.js";
