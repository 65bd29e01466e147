export {
  Conv1d,
  Conv2d,
  Conv3d,
  type ConvOptions,
  type ConvPositions,
  type PaddingMode,
} from "./conv.js";
export {
  ConvTranspose1d,
  ConvTranspose2d,
  ConvTranspose3d,
  type ConvTransposeOptions,
  type ConvTransposePositions,
} from "./conv_transpose.js";
