export { Dropout } from "./dropout.js";
export type { DropoutArguments, DropoutOptions } from "./dropout_layer.js";
export * from "./kinds.js";
