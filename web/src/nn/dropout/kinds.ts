// Dropout of whole channels, and dropout that keeps mean and variance.

import {
  alphaDropout,
  dropout1d,
  dropout2d,
  dropout3d,
  featureAlphaDropout,
} from "../functional/sampling.js";
import { dropoutLayer } from "./dropout_layer.js";

/** In training, sets random channels of signals [batch?, channels, length] to zero and scales the others up. */
export class Dropout1d extends dropoutLayer(dropout1d) {}

/** In training, sets random channels of images [batch, channels, rows, columns] to zero and scales the others up. */
export class Dropout2d extends dropoutLayer(dropout2d) {}

/** In training, sets random channels of volumes [batch?, channels, depth, rows, columns] to zero and scales the others up. */
export class Dropout3d extends dropoutLayer(dropout3d) {}

/** In training, sets random elements to the limit of SELU for very negative numbers, and keeps mean and variance. */
export class AlphaDropout extends dropoutLayer(alphaDropout) {}

/** Like AlphaDropout, for whole channels. */
export class FeatureAlphaDropout extends dropoutLayer(featureAlphaDropout) {}
