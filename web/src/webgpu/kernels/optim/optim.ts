// Optimiser steps, in the order of operations of src/backend/cpu/optim: a step follows the CPU's.

import type { Access } from "../../shader";
import type { StepKernel, StepMemory, StepOptions } from "../../steps/step_kernel";
import type { Reader } from "../../stream";

const kLeastNormal = 1.1754943508222875e-38;

/** Below this, multiplying by the smallest of `factors` gives a denormal number. */
function flushLimit(...factors: number[]): number {
  return kLeastNormal / Math.min(1, Math.max(1e-6, Math.abs(Math.min(...factors))));
}

interface Rule {
  readonly key: string;
  readonly numbers: Readonly<Record<string, number>>;
  readonly weightDecay: number;
  readonly maximize: boolean;
  /** From `p` and `g`, which has the decay of weights in it. */
  text(has: (name: string) => boolean): string;
}

function optionsOf({ key, numbers, weightDecay, maximize, text }: Rule): StepOptions {
  const decays = weightDecay !== 0;
  return {
    key: `${key} ${decays}`,
    numbers: { ...numbers, weight_decay: weightDecay, sign: maximize ? -1 : 1 },
    work: (has) => `var p = load_param(i);
  var g = u.sign * load_grad(i);
  ${decays ? "g = g + u.weight_decay * p;" : ""}
  ${text(has)}`,
  };
}

// The fields behind the options; the state has these names, and all of it but the first `needed` may not be there.
function memoryOf(fields: Reader, names: readonly string[], needed: number): StepMemory {
  const count = fields.long();
  const memory: Access[] = [
    { name: "param", view: fields.out(), mode: "write" },
    { name: "grad", view: fields.in(), mode: "read" },
  ];
  for (const [i, name] of names.entries()) {
    const view = i < needed ? fields.out() : fields.optionalOut();
    if (view !== undefined) memory.push({ name, view, mode: "write" });
  }
  return { memory, count };
}

// What texts call, on numbers and on four at a time.
const kFunctions = `fn flush(x: f32, limit: f32) -> f32 { return select(x, 0f, abs_f32(x) < limit); }
fn root(x: f32) -> f32 { return sqrt_f32(x); }
fn larger(x: f32, y: f32) -> f32 { return maximum_f32(x, y); }`;
const kFoursFunctions = `fn flush(x: vec4<f32>, limit: f32) -> vec4<f32> { return select(x, vec4(0f), abs(x) < vec4(limit)); }
fn root(x: vec4<f32>) -> vec4<f32> {
  return vec4(sqrt_f32(x.x), sqrt_f32(x.y), sqrt_f32(x.z), sqrt_f32(x.w));
}
fn larger(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
  return vec4(maximum_f32(x.x, y.x), maximum_f32(x.y, y.y), maximum_f32(x.z, y.z), maximum_f32(x.w, y.w));
}`;

const kStep = {
  supported: { all: ["float32"] },
  functions: kFunctions,
  functionsOfFours: kFoursFunctions,
} as const;

export const sgdStep: StepKernel = {
  ...kStep,

  options(fields: Reader): StepOptions {
    const lr = fields.double();
    const momentum = fields.double();
    const dampening = fields.double();
    const weightDecay = fields.double();
    const nesterov = fields.bool();
    const maximize = fields.bool();
    const isFirst = fields.bool();
    const hasMomentum = momentum !== 0;
    const step = isFirst ? "g" : "u.momentum * load_momentum_buffer(i) + u.share * g";
    const withMomentum = `let buffer = flush(${step}, u.limit);
  store_momentum_buffer(i, buffer);
  g = ${nesterov ? "g + u.momentum * buffer" : "buffer"};`;
    return optionsOf({
      key: `sgd_step ${hasMomentum} ${nesterov} ${isFirst}`,
      numbers: {
        negative_lr: -lr,
        momentum,
        share: 1 - dampening,
        limit: flushLimit(momentum, lr),
      },
      weightDecay,
      maximize,
      text: () => `${hasMomentum ? withMomentum : ""}
  store_param(i, p + u.negative_lr * g);`,
    });
  },

  memory: (fields: Reader) => memoryOf(fields, ["momentum_buffer"], 0),
};

export const adamStep: StepKernel = {
  ...kStep,

  options(fields: Reader): StepOptions {
    const step = fields.double();
    const lr = fields.double();
    const beta1 = fields.double();
    const beta2 = fields.double();
    const eps = fields.double();
    const weightDecay = fields.double();
    const decoupled = fields.bool();
    const maximize = fields.bool();
    const stepSize = lr / (1 - beta1 ** step);
    const correction = Math.sqrt(1 - beta2 ** step);
    const weight1 = 1 - beta1;
    const weight2 = 1 - beta2;
    // Without eps even the smallest second moment decides how far a parameter moves.
    const flushes = eps > 0;
    const isNearStart = weight1 < 0.5;
    const amsgrad = `v = larger(load_max_exp_avg_sq(i), v);
  store_max_exp_avg_sq(i, v);`;
    return optionsOf({
      key: `adam_step ${decoupled} ${isNearStart}`,
      numbers: {
        kept: decoupled ? 1 - lr * weightDecay : 1,
        lerp_weight: weight1,
        lerp_rest: 1 - Math.fround(weight1),
        decay2: beta2,
        share2: weight2,
        eps: eps * correction,
        negative_step: -stepSize * correction,
        limit1: flushes ? flushLimit(weight1, stepSize * correction) : 0,
        limit2: flushes ? flushLimit(beta2) : 0,
        // A gradient below this has a square that adds nothing but a denormal number.
        gradient_limit: flushes ? Math.sqrt(flushLimit(weight2)) : 0,
      },
      weightDecay: decoupled ? 0 : weightDecay,
      maximize,
      text: (has) => `p = p * u.kept;
  let m_before = load_exp_avg(i);
  let m = flush(${isNearStart ? "m_before + u.lerp_weight * (g - m_before)" : "g - (g - m_before) * u.lerp_rest"}, u.limit1);
  store_exp_avg(i, m);
  let g_squarable = flush(g, u.gradient_limit);
  var v = flush(u.decay2 * load_exp_avg_sq(i) + u.share2 * g_squarable * g_squarable, u.limit2);
  store_exp_avg_sq(i, v);
  ${has("max_exp_avg_sq") ? amsgrad : ""}
  store_param(i, p + u.negative_step * m / (root(v) + u.eps));`,
    });
  },

  memory: (fields: Reader) => memoryOf(fields, ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"], 2),
};

export const rmspropStep: StepKernel = {
  ...kStep,

  options(fields: Reader): StepOptions {
    const lr = fields.double();
    const alpha = fields.double();
    const eps = fields.double();
    const weightDecay = fields.double();
    const momentum = fields.double();
    const maximize = fields.bool();
    const weight = 1 - alpha;
    const isNearStart = weight < 0.5;
    const centered = `let before = load_grad_avg(i);
  let mean = ${isNearStart ? "before + u.share * (g - before)" : "g - (g - before) * u.rest"};
  store_grad_avg(i, mean);
  v = v - mean * mean;`;
    const withMomentum = `let buffer = flush(u.momentum * load_momentum_buffer(i) + g / divisor, u.buffer_limit);
  store_momentum_buffer(i, buffer);
  store_param(i, p + u.negative_lr * buffer);`;
    return optionsOf({
      key: `rmsprop_step ${isNearStart}`,
      numbers: {
        negative_lr: -lr,
        alpha,
        share: weight,
        rest: 1 - Math.fround(weight),
        eps,
        momentum,
        // Without eps even the smallest average decides how far a parameter moves.
        limit: eps > 0 ? flushLimit(alpha) : 0,
        buffer_limit: flushLimit(momentum, lr),
      },
      weightDecay,
      maximize,
      text: (has) => `var v = flush(u.alpha * load_square_avg(i) + u.share * g * g, u.limit);
  store_square_avg(i, v);
  ${has("grad_avg") ? centered : ""}
  let divisor = root(v) + u.eps;
  ${has("momentum_buffer") ? withMomentum : "store_param(i, p + u.negative_lr * g / divisor);"}`,
    });
  },

  memory: (fields: Reader) => memoryOf(fields, ["square_avg", "momentum_buffer", "grad_avg"], 1),
};

export const adagradStep: StepKernel = {
  ...kStep,

  options(fields: Reader): StepOptions {
    const lr = fields.double();
    const eps = fields.double();
    const weightDecay = fields.double();
    const maximize = fields.bool();
    return optionsOf({
      key: "adagrad_step",
      numbers: { negative_lr: -lr, eps },
      weightDecay,
      maximize,
      text: () => `let total = load_sum(i) + g * g;
  store_sum(i, total);
  store_param(i, p + u.negative_lr * g / (root(total) + u.eps));`,
    });
  },

  memory: (fields: Reader) => memoryOf(fields, ["sum"], 1),
};
