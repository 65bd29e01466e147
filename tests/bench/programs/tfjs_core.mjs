// TensorFlow.js for a bundler: the core, all gradients and the WebAssembly backend, without the other backends.

import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients";
import "@tensorflow/tfjs-backend-wasm";
import { trainOneStep } from "./tfjs_training.mjs";

await trainOneStep(tf);
