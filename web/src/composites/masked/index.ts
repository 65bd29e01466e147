// eg.masked: torch.masked's functions on tensors with a mask.

export { logaddexp, logSoftmax, normalize, softmax, softmin } from "./elementwise.js";
export {
  amax,
  amin,
  argmax,
  argmin,
  cumprod,
  cumsum,
  logsumexp,
  mean,
  median,
  norm,
  prod,
  std,
  sum,
  variance as var,
} from "./reductions.js";
