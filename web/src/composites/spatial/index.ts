// Ops on rows, images and volumes.

export {
  adaptiveAvgPool1d,
  adaptiveAvgPool3d,
  adaptiveMaxPool1d,
  adaptiveMaxPool3d,
} from "./adaptive_pool.js";
export { affineGrid } from "./affine_grid.js";
export { channelShuffle, pixelShuffle, pixelUnshuffle } from "./channels.js";
export { conv3d, convTranspose3d } from "./conv3d.js";
export { gridSample } from "./grid_sample.js";
export { localResponseNorm } from "./local_response_norm.js";
export { lpPool1d, lpPool2d, lpPool3d } from "./lp_pool.js";
export { maxUnpool1d, maxUnpool2d, maxUnpool3d } from "./max_unpool.js";
export { col2im, im2col } from "./patches.js";
export { avgPool3d, maxPool3d } from "./pool3d.js";
