// eg.amp: mixed precision, as in torch.amp.

export { type AutocastOptions, autocast } from "./autocast.js";
export {
  GradScaler,
  type GradScalerOptions,
  type GradScalerState,
  type ScaledOptimizer,
} from "./grad_scaler.js";
