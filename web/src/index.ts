/// <reference lib="esnext.disposable" preserve="true" />

// edgegrad: tensors and automatic differentiation with PyTorch's semantics.
//
// This file only exports, without side effects, so that bundlers can drop what a program does not import. The setup is done by
// init() and expose() (start.ts), or on import where the package is one file (one_file.ts).

// This must be the first export: own_frames.ts, which errors.ts imports, marks where the package's code begins.

export { errorFrom } from "./runtime/errors/error_from.js";
export { EdgeGradError, type ErrorCode } from "./runtime/errors/errors.js";

// The order of these does not matter.

export { type AutocastOptions, autocast } from "./amp/autocast.js";
export * as amp from "./amp/index.js";
export type { GeneratorOption } from "./arguments/generator.js";
export { type Captured, type CaptureResult, capture } from "./autograd/capture.js";
export {
  enableGrad,
  isGradEnabled,
  noGrad,
  setGradEnabled,
} from "./autograd/grad_mode.js";
export type { GradHook, HookHandle } from "./autograd/hooks.js";
export * as autograd from "./autograd/index.js";
export { inferenceMode, isInferenceModeEnabled } from "./autograd/inference_mode.js";
export type { ModeGuard } from "./autograd/mode.js";
export type { Node } from "./autograd/node.js";
export { type Restorable, type Stateful, type WarmupOptions, warmup } from "./autograd/warmup.js";
export { fft } from "./composites/fourier/namespace.js";
export * from "./composites/index.js";
export * as linalg from "./composites/linalg/namespace.js";
export * as masked from "./composites/masked/index.js";
export { randintLike } from "./composites/random_integers.js";
export { interpolate } from "./composites/resampling.js";
export * as signal from "./composites/signal/index.js";
export * as sparse from "./composites/sparse/index.js";
export * as special from "./composites/special.js";
export * as data from "./data/index.js";
export type { Ints, Operand, OutputSize, Scalar } from "./dispatch/types.js";
export * as distributions from "./distributions/index.js";
export { deviceLost, type LossHandle, onDeviceLost } from "./engine/device_loss.js";
export { type WebGpuInfo, type WebGpuStats, webgpuStats } from "./engine/gpu.js";
export type { InitOptions, MemoryOptions, OwnDevice } from "./engine/init_options.js";
export {
  type MemoryInfo,
  memory,
  type RuntimeInfo,
  runtime,
  shutdown,
} from "./engine/lifecycle.js";
export { type PreloadOptions, preload } from "./engine/preload.js";
export { setWarnAlways } from "./engine/warnings.js";
export * as func from "./func/index.js";
export * from "./generated/ops.js";
export * as io from "./io/index.js";
export * as nn from "./nn/index.js";
export { ctcLoss } from "./nn/losses/ctc_loss.js";
export { tripletMarginWithDistanceLoss } from "./nn/losses/triplet_distance_loss.js";
export { allclose, equal, type Tolerance } from "./ops/compare.js";
export {
  type FromDataOptions,
  full,
  linspace,
  type NumericArray,
  type TensorData,
  tensor,
} from "./ops/create.js";
export { einsum } from "./ops/einsum.js";
export { Generator } from "./ops/generator.js";
export {
  type FromGPUBufferOptions,
  fromGPUBuffer,
  type GpuBufferLike,
  type TensorBinding,
  type ToGPUBufferOptions,
} from "./ops/gpu_buffers.js";
export { type Index, type IndexList, Slice, slice } from "./ops/indexing.js";
export { type FloatInfo, finfo, type IntegerInfo, iinfo } from "./ops/number_types.js";
export {
  type FromImageOptions,
  fromImage,
  type PictureNormalization,
  type PictureSource,
  toCanvas,
} from "./ops/pictures.js";
export * as random from "./ops/random.js";
export { manualSeed } from "./ops/random.js";
export { randint } from "./ops/random_integers.js";
export type { NestedArray } from "./ops/read.js";
export {
  type SparseCooOptions,
  type SparseCsrOptions,
  sparseCooTensor,
  sparseCsrTensor,
} from "./ops/sparse_create.js";
export type { Target, ToOptions } from "./ops/to.js";
export { view } from "./ops/view.js";
export { type NonzeroOptions, nonzero, where } from "./ops/where.js";
export * as optim from "./optim/index.js";
export type { AbortSignalLike } from "./runtime/host/abort.js";
export type { Variant } from "./runtime/start/builds.js";
export { getDefaultDtype, setDefaultDtype } from "./tensor/default_dtype.js";
export { addDevtoolsFormatter } from "./tensor/devtools.js";
export type { Complex, Device, DType, TypedArray } from "./tensor/dtype.js";
export * from "./tensor/dtype_names.js";
export type { Item } from "./tensor/elements.js";
export type { TensorOptions } from "./tensor/factory_options.js";
export type { Bytes, DataArray } from "./tensor/own_memory.js";
export { keep, userScope as scope } from "./tensor/scope.js";
export { type Layout, Tensor } from "./tensor/tensor.js";
export * as testing from "./testing/index.js";
export { type SpawnOptions, spawn } from "./threads/spawn.js";

// This must be the last export: start.ts marks where the package's code ends.

export { expose, init } from "./start.js";
