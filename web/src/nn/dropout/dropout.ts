import { dropout } from "../../generated/ops.js";
import { dropoutLayer } from "./dropout_layer.js";

/** In training, sets random elements to zero and scales the others up. */
export class Dropout extends dropoutLayer(dropout) {}
