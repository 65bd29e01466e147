// TensorFlow.js in Node.js: the whole package, because its core alone has no gradients there.

import * as tf from "@tensorflow/tfjs";
import "@tensorflow/tfjs-backend-wasm";
import { trainOneStep } from "./tfjs_training.mjs";

await trainOneStep(tf);
