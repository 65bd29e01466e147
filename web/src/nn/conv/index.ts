export {
  Conv1d,
  Conv2d,
  Conv3d,
  type ConvArguments,
  type ConvOptions,
  type PaddingMode,
} from "./conv.js";
export {
  ConvTranspose1d,
  ConvTranspose2d,
  ConvTranspose3d,
  type ConvTransposeArguments,
  type ConvTransposeOptions,
} from "./conv_transpose.js";
