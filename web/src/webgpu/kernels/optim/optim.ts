// Optimiser steps, in the order of operations of src/backend/cpu/optim: a step follows the CPU's.

import { type Access, liesInFours } from "../../shader";
import type { Reader, View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";

const kFloat = ["float32"] as const;

const kLeastNormal = 1.1754943508222875e-38;

/** Below this, multiplying by the smallest of `factors` gives a denormal number. */
function flushLimit(...factors: number[]): number {
  return kLeastNormal / Math.min(1, Math.max(1e-6, Math.abs(Math.min(...factors))));
}

interface Step {
  readonly key: string;
  readonly count: number;
  readonly param: View;
  readonly grad: View;
  /** Read and written; those that are there. */
  readonly state: Readonly<Record<string, View | undefined>>;
  readonly numbers: Readonly<Record<string, number>>;
  readonly weightDecay: number;
  readonly maximize: boolean;
  /** From `p` and `g`, which has the decay of weights in it. */
  readonly text: string;
}

function dispatchStep(commands: Commands, step: Step): void {
  const { key, param, grad, state, numbers, weightDecay, maximize, text } = step;
  const decays = weightDecay !== 0;
  const elements: Access[] = [
    { name: "param", view: param, mode: "write" },
    { name: "grad", view: grad, mode: "read" },
    ...Object.entries(state).flatMap(([name, view]) =>
      view === undefined ? [] : [{ name, view, mode: "write" } as const],
    ),
  ];
  const inFours = step.count % 4 === 0 && elements.every(({ view }) => liesInFours(view));
  const memory = inFours ? elements.map((one) => ({ ...one, as: "fours" }) as const) : elements;
  const count = inFours ? step.count / 4 : step.count;
  commands.dispatch({
    key: `${key} ${Object.keys(state).filter((name) => state[name])} ${decays}`,
    memory,
    numbers: {
      u32: { count },
      f32: { ...numbers, weight_decay: weightDecay, sign: maximize ? -1 : 1 },
    },
    workgroups: invocations(count),
    body: () =>
      [
        inFours ? kFoursFunctions : kFunctions,
        forEach(`var p = load_param(i);
  var g = u.sign * load_grad(i);
  ${decays ? "g = g + u.weight_decay * p;" : ""}
  ${text}`),
      ].join("\n"),
  });
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

export const sgdStep: Kernel = {
  supported: { all: kFloat },

  play(fields: Reader, commands: Commands): void {
    const lr = fields.double();
    const momentum = fields.double();
    const dampening = fields.double();
    const weightDecay = fields.double();
    const nesterov = fields.bool();
    const maximize = fields.bool();
    const isFirst = fields.bool();
    const count = fields.long();
    const param = fields.out();
    const grad = fields.in();
    const buffer = fields.optionalOut();
    const hasMomentum = momentum !== 0;
    const step = isFirst ? "g" : "u.momentum * load_momentum_buffer(i) + u.share * g";
    const withMomentum = `let buffer = flush(${step}, u.limit);
  store_momentum_buffer(i, buffer);
  g = ${nesterov ? "g + u.momentum * buffer" : "buffer"};`;
    dispatchStep(commands, {
      key: `sgd_step ${hasMomentum} ${nesterov} ${isFirst}`,
      count,
      param,
      grad,
      state: hasMomentum ? { momentum_buffer: buffer } : {},
      numbers: {
        negative_lr: -lr,
        momentum,
        share: 1 - dampening,
        limit: flushLimit(momentum, lr),
      },
      weightDecay,
      maximize,
      text: `${hasMomentum ? withMomentum : ""}
  store_param(i, p + u.negative_lr * g);`,
    });
  },
};

export const adamStep: Kernel = {
  supported: { all: kFloat },

  play(fields: Reader, commands: Commands): void {
    const step = fields.double();
    const lr = fields.double();
    const beta1 = fields.double();
    const beta2 = fields.double();
    const eps = fields.double();
    const weightDecay = fields.double();
    const decoupled = fields.bool();
    const maximize = fields.bool();
    const count = fields.long();
    const param = fields.out();
    const grad = fields.in();
    const expAvg = fields.out();
    const expAvgSq = fields.out();
    const maxExpAvgSq = fields.optionalOut();
    const stepSize = lr / (1 - beta1 ** step);
    const correction = Math.sqrt(1 - beta2 ** step);
    const weight1 = 1 - beta1;
    const weight2 = 1 - beta2;
    // Without eps even the smallest second moment decides how far a parameter moves.
    const flushes = eps > 0;
    const isNearStart = weight1 < 0.5;
    const amsgrad = `v = larger(load_max_exp_avg_sq(i), v);
  store_max_exp_avg_sq(i, v);`;
    dispatchStep(commands, {
      key: `adam_step ${decoupled} ${isNearStart}`,
      count,
      param,
      grad,
      state: { exp_avg: expAvg, exp_avg_sq: expAvgSq, max_exp_avg_sq: maxExpAvgSq },
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
      text: `p = p * u.kept;
  let m_before = load_exp_avg(i);
  let m = flush(${isNearStart ? "m_before + u.lerp_weight * (g - m_before)" : "g - (g - m_before) * u.lerp_rest"}, u.limit1);
  store_exp_avg(i, m);
  let g_squarable = flush(g, u.gradient_limit);
  var v = flush(u.decay2 * load_exp_avg_sq(i) + u.share2 * g_squarable * g_squarable, u.limit2);
  store_exp_avg_sq(i, v);
  ${maxExpAvgSq === undefined ? "" : amsgrad}
  store_param(i, p + u.negative_step * m / (root(v) + u.eps));`,
    });
  },
};

export const rmspropStep: Kernel = {
  supported: { all: kFloat },

  play(fields: Reader, commands: Commands): void {
    const lr = fields.double();
    const alpha = fields.double();
    const eps = fields.double();
    const weightDecay = fields.double();
    const momentum = fields.double();
    const maximize = fields.bool();
    const count = fields.long();
    const param = fields.out();
    const grad = fields.in();
    const squareAvg = fields.out();
    const momentumBuffer = fields.optionalOut();
    const gradAvg = fields.optionalOut();
    const weight = 1 - alpha;
    const isNearStart = weight < 0.5;
    const centered = `let before = load_grad_avg(i);
  let mean = ${isNearStart ? "before + u.share * (g - before)" : "g - (g - before) * u.rest"};
  store_grad_avg(i, mean);
  v = v - mean * mean;`;
    const withMomentum = `let buffer = flush(u.momentum * load_momentum_buffer(i) + g / divisor, u.buffer_limit);
  store_momentum_buffer(i, buffer);
  store_param(i, p + u.negative_lr * buffer);`;
    dispatchStep(commands, {
      key: `rmsprop_step ${isNearStart}`,
      count,
      param,
      grad,
      state: { square_avg: squareAvg, momentum_buffer: momentumBuffer, grad_avg: gradAvg },
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
      text: `var v = flush(u.alpha * load_square_avg(i) + u.share * g * g, u.limit);
  store_square_avg(i, v);
  ${gradAvg === undefined ? "" : centered}
  let divisor = root(v) + u.eps;
  ${momentumBuffer === undefined ? "store_param(i, p + u.negative_lr * g / divisor);" : withMomentum}`,
    });
  },
};

export const adagradStep: Kernel = {
  supported: { all: kFloat },

  play(fields: Reader, commands: Commands): void {
    const lr = fields.double();
    const eps = fields.double();
    const weightDecay = fields.double();
    const maximize = fields.bool();
    const count = fields.long();
    const param = fields.out();
    const grad = fields.in();
    const sum = fields.out();
    dispatchStep(commands, {
      key: "adagrad_step",
      count,
      param,
      grad,
      state: { sum },
      numbers: { negative_lr: -lr, eps },
      weightDecay,
      maximize,
      text: `let total = load_sum(i) + g * g;
  store_sum(i, total);
  store_param(i, p + u.negative_lr * g / (root(total) + u.eps));`,
    });
  },
};
