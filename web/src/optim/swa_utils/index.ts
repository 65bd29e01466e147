// eg.optim.swaUtils: averages of a model's weights over its training.

export { AveragedModel, type AveragedModelOptions } from "./averaged_model.js";
export {
  type AvgFn,
  getEmaAvgFn,
  getEmaMultiAvgFn,
  getSwaAvgFn,
  getSwaMultiAvgFn,
  type MultiAvgFn,
} from "./averaging.js";
export { SWALR, type SWALROptions } from "./swa_lr.js";
export { type Batches, updateBn } from "./update_bn.js";
