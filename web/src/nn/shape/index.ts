export { Flatten, type FlattenOptions, Unflatten } from "./flatten.js";
export { Fold, type FoldOptions, Unfold } from "./fold.js";
export { Identity } from "./identity.js";
export {
  CircularPad1d,
  CircularPad2d,
  CircularPad3d,
  ConstantPad1d,
  ConstantPad2d,
  ConstantPad3d,
  ReflectionPad1d,
  ReflectionPad2d,
  ReflectionPad3d,
  ReplicationPad1d,
  ReplicationPad2d,
  ReplicationPad3d,
  ZeroPad1d,
  ZeroPad2d,
  ZeroPad3d,
} from "./padding.js";
export { ChannelShuffle, PixelShuffle, PixelUnshuffle } from "./shuffle.js";
export {
  Upsample,
  type UpsampleMode,
  type UpsampleOptions,
  UpsamplingBilinear2d,
  UpsamplingNearest2d,
  type UpsamplingOptions,
} from "./upsample.js";
