// edgegrad/onnx: ONNX models as trainable modules.

export { load } from "./load.js";
