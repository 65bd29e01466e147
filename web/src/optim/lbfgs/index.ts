// L-BFGS.

export type { LBFGSValue } from "./history.js";
export { LBFGS, type LBFGSSettings } from "./lbfgs.js";
