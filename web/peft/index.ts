// edgegrad/peft: adapters that train a small share of a model's parameters, in the layout of PEFT's files.

export { type BiasKind, type InitLoraWeights, LoraConfig, type LoraOptions } from "./config.js";
export {
  type AdapterOptions,
  getPeftModel,
  type ParameterCounts,
  PeftModel,
} from "./peft_model.js";
