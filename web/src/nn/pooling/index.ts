export {
  AdaptiveAvgPool2d,
  AdaptiveMaxPool2d,
  type AdaptiveMaxPoolArguments,
  type AdaptiveMaxPoolOptions,
} from "./adaptive_pool.js";
export {
  AvgPool1d,
  type AvgPool1dOptions,
  AvgPool2d,
  type AvgPoolArguments,
  type AvgPoolOptions,
} from "./avg_pool.js";
export { MaxPool1d, MaxPool2d, type MaxPoolArguments, type MaxPoolOptions } from "./max_pool.js";
