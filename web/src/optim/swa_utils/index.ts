// eg.optim.swaUtils: averages of the weights of a model as it trains.

export { SWALR, type SWALROptions } from "./swa_lr.js";
