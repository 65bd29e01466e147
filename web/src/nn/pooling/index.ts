export {
  AdaptiveAvgPool1d,
  AdaptiveAvgPool2d,
  AdaptiveAvgPool3d,
  AdaptiveMaxPool1d,
  AdaptiveMaxPool2d,
  AdaptiveMaxPool3d,
  type AdaptiveMaxPoolArguments,
  type AdaptiveMaxPoolOptions,
} from "./adaptive_pool.js";
export {
  AvgPool1d,
  type AvgPool1dOptions,
  AvgPool2d,
  AvgPool3d,
  type AvgPoolArguments,
  type AvgPoolOptions,
} from "./avg_pool.js";
export {
  FractionalMaxPool2d,
  FractionalMaxPool3d,
  type FractionalMaxPoolArguments,
  type FractionalMaxPoolOptions,
} from "./fractional_max_pool.js";
export {
  LPPool1d,
  LPPool2d,
  LPPool3d,
  type LPPoolArguments,
  type LPPoolOptions,
} from "./lp_pool.js";
export {
  MaxPool1d,
  MaxPool2d,
  MaxPool3d,
  type MaxPoolArguments,
  type MaxPoolOptions,
} from "./max_pool.js";
export {
  MaxUnpool1d,
  MaxUnpool2d,
  MaxUnpool3d,
  type MaxUnpoolArguments,
  type MaxUnpoolCall,
  type MaxUnpoolOptions,
} from "./max_unpool.js";
