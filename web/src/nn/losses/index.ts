export * from "./adaptive_log_softmax.js";
export { CTCLoss, type CTCLossOptions, type Lengths } from "./ctc_loss.js";
export type { LossOptions, Reduction } from "./loss_layer.js";
export * from "./losses.js";
export * from "./margin_losses.js";
export {
  type DistanceFunction,
  type TripletDistanceOptions,
  TripletMarginWithDistanceLoss,
} from "./triplet_distance_loss.js";
