// The activation functions that config.json can name.

import * as eg from "edgegrad";
import type { Config } from "../config/config.js";

/** An elementwise function. */
export type Activation = (x: eg.Tensor) => eg.Tensor;

const tanhGelu: Activation = (x) => eg.gelu(x, "tanh");

const kActivations: Readonly<Record<string, Activation>> = {
  gelu: (x) => eg.gelu(x),
  gelu_fast: tanhGelu,
  gelu_new: tanhGelu,
  gelu_python: (x) => eg.gelu(x),
  gelu_pytorch_tanh: tanhGelu,
  quick_gelu: (x) => x.mul(x.mul(1.702).sigmoid()),
  relu: (x) => x.relu(),
  silu: (x) => eg.silu(x),
  swish: (x) => eg.silu(x),
  tanh: (x) => x.tanh(),
};

/** Returns the activation function that a key of a config names. */
export function activationOf(config: Config, key: string, fallback: string): Activation {
  const name = config.choice(key, Object.keys(kActivations), fallback);
  return activationNamed(name);
}

/** Returns the activation function of a name. */
export function activationNamed(name: string): Activation {
  return kActivations[name] as Activation;
}
