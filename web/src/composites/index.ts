// The ops that are made of ops.

export { cumulativeTrapezoid, trapezoid } from "./integration.js";
