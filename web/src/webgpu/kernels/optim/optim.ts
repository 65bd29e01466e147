// Optimizer steps, with the order of operations of src/backend/cpu/optim, so that a step matches the CPU's.

import type { AdagradStep, AdamStep, RmspropStep, SgdStep } from "../../../generated/stream";
import type { Access } from "../../shader";
import type { StepKernel, StepMemory, StepOptions } from "../../steps/step_kernel";
import type { View } from "../../stream";

const kLeastNormal = 1.1754943508222875e-38;

/** Returns the limit below which multiplying by the smallest of `factors` results in a denormal number. */
function flushLimit(...factors: number[]): number {
  return kLeastNormal / Math.min(1, Math.max(1e-6, Math.abs(Math.min(...factors))));
}

interface Rule {
  readonly key: string;
  readonly uniforms: Readonly<Record<string, number>>;
  readonly weightDecay: number;
  readonly maximize: boolean;
  /** Returns the WGSL of the step from `p` and `g`, which includes the weight decay. */
  text(has: (name: string) => boolean): string;
}

function optionsOf({ key, uniforms, weightDecay, maximize, text }: Rule): StepOptions {
  const decays = weightDecay !== 0;
  return {
    key: `${key} ${decays}`,
    uniforms: { ...uniforms, weight_decay: weightDecay, sign: maximize ? -1 : 1 },
    work: (has) => `var p = load_param(i);
  var g = u.sign * load_grad(i);
  ${decays ? "g = g + u.weight_decay * p;" : ""}
  ${text(has)}`,
  };
}

/** The fields that all steps have besides their options and their state. */
type Stepped = Pick<SgdStep, "count" | "param" | "grad">;

// `state` maps the names in shaders to the memory, in the order of the struct.
function memoryOf(
  { count, param, grad }: Stepped,
  state: Readonly<Record<string, View | undefined>>,
): StepMemory {
  const memory: Access[] = [
    { name: "param", view: param, mode: "write" },
    { name: "grad", view: grad, mode: "read" },
  ];
  for (const [name, view] of Object.entries(state)) {
    if (view !== undefined) memory.push({ name, view, mode: "write" });
  }
  return { memory, count };
}

// The functions that step texts call, for floats and for vectors of four floats.
const kFunctions = `fn flush(x: f32, limit: f32) -> f32 { return select(x, 0f, abs_f32(x) < limit); }
fn root(x: f32) -> f32 { return sqrt_f32(x); }
fn larger(x: f32, y: f32) -> f32 { return maximum_f32(x, y); }`;
const kVec4sFunctions = `fn flush(x: vec4<f32>, limit: f32) -> vec4<f32> { return select(x, vec4(0f), abs(x) < vec4(limit)); }
fn root(x: vec4<f32>) -> vec4<f32> {
  return vec4(sqrt_f32(x.x), sqrt_f32(x.y), sqrt_f32(x.z), sqrt_f32(x.w));
}
fn larger(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
  return vec4(maximum_f32(x.x, y.x), maximum_f32(x.y, y.y), maximum_f32(x.z, y.z), maximum_f32(x.w, y.w));
}`;

const kStep = {
  supported: { all: ["float32"] },
  functions: kFunctions,
  functionsOfVec4s: kVec4sFunctions,
} as const;

export const sgdStep: StepKernel<SgdStep> = {
  ...kStep,

  options({ lr, momentum, dampening, weightDecay, nesterov, maximize, first }): StepOptions {
    const hasMomentum = momentum !== 0;
    const step = first ? "g" : "u.momentum * load_momentum_buffer(i) + u.share * g";
    const withMomentum = `let buffer = flush(${step}, u.limit);
  store_momentum_buffer(i, buffer);
  g = ${nesterov ? "g + u.momentum * buffer" : "buffer"};`;
    return optionsOf({
      key: `sgd_step ${hasMomentum} ${nesterov} ${first}`,
      uniforms: {
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

  memory: (call) => memoryOf(call, { momentum_buffer: call.momentumBuffer }),
};

export const adamStep: StepKernel<AdamStep> = {
  ...kStep,

  options({ step, lr, beta1, beta2, eps, weightDecay, decoupled, maximize }): StepOptions {
    const stepSize = lr / (1 - beta1 ** step);
    const correction = Math.sqrt(1 - beta2 ** step);
    const weight1 = 1 - beta1;
    const weight2 = 1 - beta2;
    // Without eps, even the smallest second moment affects how far a parameter moves.
    const flushes = eps > 0;
    const isNearStart = weight1 < 0.5;
    const amsgrad = `v = larger(load_max_exp_avg_sq(i), v);
  store_max_exp_avg_sq(i, v);`;
    return optionsOf({
      key: `adam_step ${decoupled} ${isNearStart}`,
      uniforms: {
        kept: decoupled ? 1 - lr * weightDecay : 1,
        lerp_weight: weight1,
        lerp_rest: 1 - Math.fround(weight1),
        decay2: beta2,
        share2: weight2,
        eps: eps * correction,
        negative_step: -stepSize * correction,
        limit1: flushes ? flushLimit(weight1, stepSize * correction) : 0,
        limit2: flushes ? flushLimit(beta2) : 0,
        // The square of a gradient below this limit only contributes a denormal number.
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

  memory: (call) =>
    memoryOf(call, {
      exp_avg: call.expAvg,
      exp_avg_sq: call.expAvgSq,
      max_exp_avg_sq: call.maxExpAvgSq,
    }),
};

export const rmspropStep: StepKernel<RmspropStep> = {
  ...kStep,

  options({ lr, alpha, eps, weightDecay, momentum, maximize }): StepOptions {
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
      uniforms: {
        negative_lr: -lr,
        alpha,
        share: weight,
        rest: 1 - Math.fround(weight),
        eps,
        momentum,
        // Without eps, even the smallest average affects how far a parameter moves.
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

  memory: (call) =>
    memoryOf(call, {
      square_avg: call.squareAvg,
      momentum_buffer: call.momentumBuffer,
      grad_avg: call.gradAvg,
    }),
};

export const adagradStep: StepKernel<AdagradStep> = {
  ...kStep,

  options({ lr, eps, weightDecay, maximize }): StepOptions {
    return optionsOf({
      key: "adagrad_step",
      uniforms: { negative_lr: -lr, eps },
      weightDecay,
      maximize,
      text: () => `let total = load_sum(i) + g * g;
  store_sum(i, total);
  store_param(i, p + u.negative_lr * g / (root(total) + u.eps));`,
    });
  },

  memory: (call) => memoryOf(call, { sum: call.sum }),
};
