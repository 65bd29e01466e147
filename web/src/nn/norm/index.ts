export { BatchNorm1d, BatchNorm2d, BatchNorm3d } from "./batch_norm.js";
export type { BatchNormArguments, BatchNormOptions } from "./channel_norm.js";
export { GroupNorm, type GroupNormArguments, type GroupNormOptions } from "./group_norm.js";
export { InstanceNorm1d, InstanceNorm2d, InstanceNorm3d } from "./instance_norm.js";
export { LayerNorm, type LayerNormOptions } from "./layer_norm.js";
export { LocalResponseNorm, type LocalResponseNormOptions } from "./local_response_norm.js";
export { RMSNorm, type RMSNormOptions } from "./rms_norm.js";
