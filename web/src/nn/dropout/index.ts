export { Dropout, type DropoutArguments, type DropoutOptions } from "./dropout.js";
export { AlphaDropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout } from "./kinds.js";
