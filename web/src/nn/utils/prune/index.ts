// nn.utils.prune: setting elements of parameters to zero.

export {
  customFromMask,
  globalUnstructured,
  identity,
  isPruned,
  l1Unstructured,
  lnStructured,
  randomStructured,
  randomUnstructured,
  remove,
} from "./functions.js";
export { BasePruningMethod, PruningContainer, type PruningType } from "./method.js";
export {
  CustomFromMask,
  Identity,
  L1Unstructured,
  LnStructured,
  RandomStructured,
  RandomUnstructured,
} from "./methods.js";
