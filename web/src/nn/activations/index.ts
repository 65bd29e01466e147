export type { InPlaceArguments, InPlaceOptions } from "./in_place.js";
export * from "./plain.js";
export * from "./prelu.js";
export * from "./softmax.js";
export * from "./with_numbers.js";
