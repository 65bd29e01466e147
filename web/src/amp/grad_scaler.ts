// Scaling of losses, so that small gradients are numbers of float16 too.

import { type Arguments, isPlainObject, readArguments } from "../arguments/read.js";
import { boolean, count, number, type Options, Rule, type Values } from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import { all, isfinite, logicalAnd, mul, mul_ } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors.js";
import { type Device, deviceRule } from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

const kOptions = {
  /** Where the losses are; one scaler serves all devices. Default "cpu". */
  device: deviceRule.or("cpu"),
  /** The factor at the start; default 65536. */
  initScale: number.or(65536),
  /** What the factor is multiplied by after `growthInterval` steps without an infinity; default 2. */
  growthFactor: number.or(2),
  /** What it is multiplied by after a step with one; default 0.5. */
  backoffFactor: number.or(0.5),
  /** Steps without an infinity until the factor grows; default 2000. */
  growthInterval: count.or(2000),
  /** Whether it does anything; if not, step() is the optimizer's. Default true. */
  enabled: boolean.or(true),
};

/** Options of `GradScaler`. */
export type GradScalerOptions = Options<typeof kOptions>;

/** What a scaler asks of an optimizer; all of eg.optim are such. */
export interface ScaledOptimizer {
  /** The parameters whose gradients are scaled. */
  readonly paramGroups: readonly {
    /** The parameters of a group. */
    readonly params: readonly Tensor[];
  }[];
  /** Changes the parameters. */
  step(): unknown;
}

const kOptimizer = /* @__PURE__ */ new Rule<ScaledOptimizer>("an optimizer", (value) => {
  if (typeof value !== "object" || value === null) return false;
  const { paramGroups, step } = value as Partial<ScaledOptimizer>;
  const isGroup = (group: { readonly params?: unknown } | null) =>
    Array.isArray(group?.params) && group.params.every((param) => param instanceof Tensor);
  return typeof step === "function" && Array.isArray(paramGroups) && paramGroups.every(isGroup);
});

/** The state of a scaler, in PyTorch's structure; empty of one that is not enabled. */
export interface GradScalerState {
  /** The factor. */
  scale?: number;
  /** What the factor grows by. */
  growth_factor?: number;
  /** What the factor falls by. */
  backoff_factor?: number;
  /** After how many steps without an overflow it grows. */
  growth_interval?: number;
  /** Steps without an infinity since the factor was changed. */
  _growth_tracker?: number;
}

// What was done with an optimizer since the last update().
interface Progress {
  readonly hasFinite: boolean;
  isStepped: boolean;
}

/**
 * Multiplies losses by a factor, divides gradients by it before a step, and leaves out steps whose gradients have an
 * infinity or NaN. The factor shrinks when that happens and grows when it has not for long.
 */
export class GradScaler {
  readonly #options: Values<typeof kOptions>;
  #scale: number;
  #steps = 0;
  readonly #progress = new Map<ScaledOptimizer, Progress>();

  /** All as PyTorch has it, unless the options say otherwise. */
  constructor(
    ...given: Arguments<
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
  ) {
    this.#options = readArguments("GradScaler", kOptions, given);
    const { growthFactor, backoffFactor, initScale } = this.#options;
    check(growthFactor > 1, `growthFactor: The growth factor must be > 1.0, got ${growthFactor}.`);
    check(
      backoffFactor < 1,
      `backoffFactor: The backoff factor must be < 1.0, got ${backoffFactor}.`,
    );
    this.#scale = initScale;
  }

  /** Returns a loss, or several, times the factor. */
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

  /** Divides the gradients of an optimizer by the factor, for those who change them before step(). */
  unscale_(optimizer: ScaledOptimizer): void {
    kOptimizer.check("GradScaler.unscale_", "optimizer", optimizer);
    if (!this.isEnabled()) return;
    const known = this.#progress.get(optimizer);
    check(!known?.isStepped, "unscale_() is being called after step().");
    check(
      known === undefined,
      "unscale_() has already been called on this optimizer since the last update().",
    );
    const hasFinite = divide(gradientsOf(optimizer), 1 / this.#scale);
    this.#progress.set(optimizer, { hasFinite, isStepped: false });
  }

  /**
   * Divides the gradients, unless unscale_() has done it, and calls the step() of the optimizer, whose value it returns;
   * when a gradient is not finite, it does not.
   */
  step<T>(optimizer: { step(): T } & ScaledOptimizer, ...rest: []): T | undefined {
    kOptimizer.check("GradScaler.step", "optimizer", optimizer);
    check(rest.length === 0, "Closure use is not currently supported.");
    if (!this.isEnabled()) return optimizer.step();
    if (!this.#progress.has(optimizer)) this.unscale_(optimizer);
    const progress = this.#progress.get(optimizer) as Progress;
    check(!progress.isStepped, "step() has already been called since the last update().");
    const result = progress.hasFinite ? optimizer.step() : undefined;
    progress.isStepped = true;
    return result;
  }

  /** Changes the factor by what the steps since the last call have met, or to `newScale`. */
  update(newScale?: number): void {
    if (!this.isEnabled()) return;
    const outcomes = [...this.#progress.values()];
    if (newScale !== undefined)
      this.#scale = number.check("GradScaler.update", "newScale", newScale);
    else {
      check(outcomes.length > 0, "No inf checks were recorded prior to update.");
      this.#adapt(outcomes.every(({ hasFinite }) => hasFinite));
    }
    this.#progress.clear();
  }

  /** Returns the factor; 1 when the scaler is not enabled. */
  getScale(): number {
    return this.isEnabled() ? this.#scale : 1;
  }

  /** Whether it does anything. */
  isEnabled(): boolean {
    return this.#options.enabled;
  }

  /** Returns the state in PyTorch's structure. */
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

  /** Takes over what stateDict() returned. */
  loadStateDict(state: GradScalerState): void {
    if (!this.isEnabled()) return;
    const name = "GradScaler.loadStateDict";
    if (!isPlainObject(state)) {
      fail(
        "InvalidArgument",
        name,
        `state: expected what stateDict() returns, got ${describe(state)}.`,
      );
    }
    check(
      Object.keys(state).length > 0,
      "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.",
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
}

function gradientsOf(optimizer: ScaledOptimizer): Tensor[] {
  const params = optimizer.paramGroups.flatMap(({ params }) => params);
  return params.map((param) => param.grad).filter((grad) => grad !== null);
}

// Multiplies gradients in place; returns whether all were finite.
function divide(grads: readonly Tensor[], factor: number): boolean {
  check(grads.length > 0, "No inf checks were recorded for this optimizer.");
  check(
    grads.every(({ dtype }) => dtype !== "float16"),
    "Attempting to unscale FP16 gradients. Keep parameters in float32, and run the model under autocast().",
  );
  return scope(() =>
    noGrad(() => {
      const finite = grads.map((grad) => all(isfinite(grad))).reduce((a, b) => logicalAnd(a, b));
      for (const grad of grads) mul_(grad, factor);
      return finite.item<boolean>();
    }),
  );
}

function check(holds: boolean, told: string): void {
  if (!holds) fail("InvalidArgument", "GradScaler", told);
}
