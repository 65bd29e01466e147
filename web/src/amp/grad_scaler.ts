// eg.amp.GradScaler: scales losses so that small gradients do not underflow in float16.

import { isPlainObject, type MixedArguments, readArguments } from "../arguments/read.js";
import { boolean, count, number, type Options, Rule, type Values } from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import { all, isfinite, logicalAnd, mul, mul_ } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { type Device, deviceRule } from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

const kOptions = {
  /** The device of the losses; has no effect, since a scaler works with all devices. Default "cpu". */
  device: deviceRule.or("cpu"),
  /** The initial scale factor; default 65536. */
  initScale: number.or(65536),
  /** The scale is multiplied by this after `growthInterval` consecutive steps with finite gradients; default 2. */
  growthFactor: number.or(2),
  /** The scale is multiplied by this after a step with an infinity or NaN; default 0.5. */
  backoffFactor: number.or(0.5),
  /** The number of consecutive steps with finite gradients after which the scale grows; default 2000. */
  growthInterval: count.or(2000),
  /** Whether the scaler is active; if not, step() only calls that of the optimizer. Default true. */
  enabled: boolean.or(true),
};

/** Options of `GradScaler`. */
export type GradScalerOptions = Options<typeof kOptions>;

/** The interface that a scaler needs from an optimizer; all optimizers of eg.optim have it. */
export interface ScaledOptimizer {
  /** The parameters whose gradients are scaled. */
  readonly paramGroups: readonly {
    /** The parameters of a group. */
    readonly params: readonly Tensor[];
  }[];
  /** Updates the parameters. */
  step(): unknown;
}

const kOptimizer = /* @__PURE__ */ new Rule<ScaledOptimizer>("an optimizer", (value) => {
  if (typeof value !== "object" || value === null) return false;
  const { paramGroups, step } = value as Partial<ScaledOptimizer>;
  const isGroup = (group: { readonly params?: unknown } | null) =>
    Array.isArray(group?.params) && group.params.every((param) => param instanceof Tensor);
  return typeof step === "function" && Array.isArray(paramGroups) && paramGroups.every(isGroup);
});

/** The state of a scaler, with PyTorch's names; empty if the scaler is disabled. */
export interface GradScalerState {
  /** The scale factor. */
  scale?: number;
  /** The factor by which the scale grows. */
  growth_factor?: number;
  /** The factor by which the scale shrinks. */
  backoff_factor?: number;
  /** The number of consecutive finite steps after which the scale grows. */
  growth_interval?: number;
  /** The number of finite steps since the scale last changed. */
  _growth_tracker?: number;
}

// The state of an optimizer since the last update().
interface Progress {
  readonly hasFinite: boolean;
  isStepped: boolean;
}

/**
 * Multiplies losses by a scale factor, divides gradients by it before a step, and skips steps whose gradients contain an
 * infinity or NaN. The scale shrinks after a skipped step and grows after many steps without one.
 */
export class GradScaler {
  readonly #options: Values<typeof kOptions>;
  #scale: number;
  #steps = 0;
  readonly #progress = new Map<ScaledOptimizer, Progress>();

  /** Creates a scaler; the defaults are those of PyTorch. */
  constructor(
    device?: Device,
    initScale?: number,
    growthFactor?: number,
    backoffFactor?: number,
    growthInterval?: number,
    enabled?: boolean,
  );
  constructor(
    ...rest: MixedArguments<
      [
        device: Device,
        initScale: number,
        growthFactor: number,
        backoffFactor: number,
        growthInterval: number,
        enabled: boolean,
      ],
      GradScalerOptions
    >
  );
  constructor(options?: GradScalerOptions);
  constructor(...given: unknown[]) {
    this.#options = readArguments("GradScaler", kOptions, given);
    const { growthFactor, backoffFactor, initScale } = this.#options;
    check(growthFactor > 1, `growthFactor: expected a number above 1, got ${growthFactor}.`);
    check(backoffFactor < 1, `backoffFactor: expected a number below 1, got ${backoffFactor}.`);
    this.#scale = initScale;
  }

  /** Returns a loss, or several, multiplied by the scale. */
  scale(outputs: Tensor): Tensor;
  scale(outputs: readonly Tensor[]): Tensor[];
  scale(outputs: Tensor | readonly Tensor[]): Tensor | Tensor[] {
    if (Array.isArray(outputs)) return outputs.map((output: Tensor) => this.scale(output));
    if (outputs instanceof Tensor) return mul(outputs, this.getScale());
    return fail(
      "InvalidArgument",
      "GradScaler.scale",
      `outputs: expected a tensor or an array of tensors, got ${describe(outputs)}.`,
    );
  }

  /** Divides the gradients of an optimizer by the scale, for example to clip them before step(). */
  unscale_(optimizer: ScaledOptimizer): void {
    kOptimizer.check("GradScaler.unscale_", "optimizer", optimizer);
    if (!this.isEnabled()) return;
    const known = this.#progress.get(optimizer);
    check(!known?.isStepped, "unscale_() must be called before step().");
    check(known === undefined, "unscale_() was already called for this optimizer: call update().");
    const hasFinite = divide(gradientsOf(optimizer), 1 / this.#scale);
    this.#progress.set(optimizer, { hasFinite, isStepped: false });
  }

  /**
   * Divides the gradients by the scale, unless unscale_() has done so, then calls step() of the optimizer and returns its
   * value. Skips the step and returns undefined if a gradient contains an infinity or NaN.
   */
  step<T>(optimizer: { step(): T } & ScaledOptimizer, ...rest: []): T | undefined {
    kOptimizer.check("GradScaler.step", "optimizer", optimizer);
    check(rest.length === 0, "step() takes no closure: compute the loss and gradients before.");
    if (!this.isEnabled()) return optimizer.step();
    if (!this.#progress.has(optimizer)) this.unscale_(optimizer);
    const progress = this.#progress.get(optimizer) as Progress;
    check(!progress.isStepped, "step() was already called for this optimizer: call update().");
    const result = progress.hasFinite ? optimizer.step() : undefined;
    progress.isStepped = true;
    return result;
  }

  /** Adjusts the scale according to the steps since the last call, or sets it to `newScale`. */
  update(newScale?: number): void {
    if (!this.isEnabled()) return;
    const outcomes = [...this.#progress.values()];
    if (newScale !== undefined)
      this.#scale = number.check("GradScaler.update", "newScale", newScale);
    else {
      check(outcomes.length > 0, "call step() or unscale_() before update().");
      this.#adapt(outcomes.every(({ hasFinite }) => hasFinite));
    }
    this.#progress.clear();
  }

  /** Returns the scale; 1 if the scaler is disabled. */
  getScale(): number {
    return this.isEnabled() ? this.#scale : 1;
  }

  /** Returns whether the scaler is active. */
  isEnabled(): boolean {
    return this.#options.enabled;
  }

  /** Returns the state with PyTorch's names. */
  stateDict(): GradScalerState {
    if (!this.isEnabled()) return {};
    const { growthFactor, backoffFactor, growthInterval } = this.#options;
    return {
      scale: this.#scale,
      growth_factor: growthFactor,
      backoff_factor: backoffFactor,
      growth_interval: growthInterval,
      _growth_tracker: this.#steps,
    };
  }

  /** Restores a state returned by stateDict(). */
  loadStateDict(state: GradScalerState): void {
    if (!this.isEnabled()) return;
    const name = "GradScaler.loadStateDict";
    if (!isPlainObject(state)) {
      fail(
        "InvalidArgument",
        name,
        `state: expected the result of stateDict(), got ${describe(state)}.`,
      );
    }
    check(
      Object.keys(state).length > 0,
      "state: the object is empty, as stateDict() of a disabled GradScaler is.",
    );
    const read = (key: keyof GradScalerState) => number.check(name, key, state[key]);
    const own = {
      growthFactor: read("growth_factor"),
      backoffFactor: read("backoff_factor"),
      growthInterval: read("growth_interval"),
    };
    const scale = read("scale");
    this.#steps = read("_growth_tracker");
    this.#scale = scale;
    Object.assign(this.#options, own);
  }

  #adapt(hasFinite: boolean): void {
    const { growthFactor, backoffFactor, growthInterval } = this.#options;
    this.#steps = hasFinite ? this.#steps + 1 : 0;
    if (!hasFinite) this.#scale *= backoffFactor;
    if (this.#steps !== growthInterval) return;
    this.#steps = 0;
    const grown = Math.fround(this.#scale * growthFactor);
    if (Number.isFinite(grown)) this.#scale = grown;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

function gradientsOf(optimizer: ScaledOptimizer): Tensor[] {
  const params = optimizer.paramGroups.flatMap(({ params }) => params);
  return params.map((param) => param.grad).filter((grad) => grad !== null);
}

// Multiplies gradients in place; returns whether all were finite.
function divide(grads: readonly Tensor[], factor: number): boolean {
  check(grads.length > 0, "the optimizer's parameters have no gradients: call backward() first.");
  check(
    grads.every(({ dtype }) => dtype !== "float16"),
    "float16 gradients cannot be unscaled. Keep the parameters in float32 and run the model under autocast().",
  );
  return scope(() =>
    noGrad(() => {
      const finite = grads.map((grad) => all(isfinite(grad))).reduce((a, b) => logicalAnd(a, b));
      for (const grad of grads) mul_(grad, factor);
      return finite.item<boolean>();
    }),
  );
}

function check(holds: boolean, message: string): void {
  if (!holds) fail("InvalidArgument", "GradScaler", message);
}
