export {
  LazyBatchNorm1d,
  LazyBatchNorm2d,
  LazyBatchNorm3d,
  LazyConv1d,
  LazyConv2d,
  LazyConv3d,
  LazyConvTranspose1d,
  LazyConvTranspose2d,
  LazyConvTranspose3d,
  LazyInstanceNorm1d,
  LazyInstanceNorm2d,
  LazyInstanceNorm3d,
  type LazyLayer,
  LazyLinear,
} from "./layers.js";
export { type LazyModule, type LazyModuleClass, LazyModuleMixin } from "./lazy_module.js";
export {
  type MaterializeOptions,
  UninitializedBuffer,
  type UninitializedBufferOptions,
  UninitializedParameter,
  type UninitializedParameterOptions,
} from "./uninitialized.js";
