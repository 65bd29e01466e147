// watch(): records how the parameters of a module, their gradients and its units develop in training.

import { keep, nn, noGrad, scope, Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { Recorder } from "../log/recorder.js";
import { checkModule } from "./follow.js";

/** Options of `watch`. */
export interface WatchOptions {
  /** The number of steps between two measurements; default 10. */
  every?: number;
  /** Whether to add histograms of parameters and gradients; default true. */
  histograms?: boolean;
  /** The number of ranges of a histogram; default 30. */
  bins?: number;
  /**
   * The module classes whose dead units are counted: units whose output is 0 for the whole batch. Default `nn.ReLU` and `nn.ReLU6`.
   */
  activations?: readonly (new (
    ...given: never[]
  ) => nn.Module)[];
}

/** What `watch` returns. */
export class Watcher {
  readonly #module: nn.Module;
  readonly #recorder: Recorder;
  readonly #options: Required<WatchOptions>;
  readonly #hooks: { remove(): void }[];
  // The fraction of dead units in the last call, by the path of the module.
  readonly #dead = new Map<string, Tensor>();
  #next = 0;

  /** @internal */
  constructor(module: nn.Module, recorder: Recorder, options: Required<WatchOptions>) {
    this.#module = module;
    this.#recorder = recorder;
    this.#options = options;
    this.#hooks = module
      .namedModules()
      .filter(([, part]) => options.activations.some((kind) => part instanceof kind))
      .map(([path, part]) =>
        part.registerForwardHook((_, __, output) => {
          if (part.training && this.#isDue(this.#next)) this.#look(path, output);
        }),
      );
  }

  /**
   * Calls `update`, which changes the parameters, such as `() => optimizer.step()`, and returns its result. Every `every` steps it adds to the
   * recorder, for each parameter NAME: `weight/NAME` and `gradient/NAME` (histograms), `weight norm/NAME`, `gradient norm/NAME`, and
   * `update ratio/NAME`, the norm of the change divided by that of the weight; and for each activation module at PATH: `dead units/PATH`, the
   * fraction of its units that were 0 for the whole batch. `step` is the training step.
   */
  update<T>(step: number, update: () => T): T {
    if (!Number.isSafeInteger(step) || step < 0)
      refuse("Watcher.update", "step", "an integer from 0 on", step);
    if (typeof update !== "function") refuse("Watcher.update", "update", "a function", update);
    this.#next = step + 1;
    if (!this.#isDue(step)) return update();
    const parameters = this.#module.namedParameters();
    this.#addGradients(step, parameters);
    const before = scope(() =>
      noGrad(() => parameters.map(([, parameter]) => parameter.detach().clone())),
    );
    try {
      const result = update();
      this.#addChanges(step, parameters, before);
      this.#addDeadUnits(step);
      return result;
    } finally {
      for (const copy of before) copy.dispose();
    }
  }

  /** Removes the hooks from the module. */
  remove(): void {
    for (const hook of this.#hooks) hook.remove();
    this.#forget();
  }

  #isDue(step: number): boolean {
    return step % this.#options.every === 0;
  }

  #addGradients(step: number, parameters: readonly [string, nn.Parameter][]): void {
    const { histograms, bins } = this.#options;
    for (const [name, parameter] of parameters) {
      const { grad } = parameter;
      if (histograms) this.#recorder.addHistogram(`weight/${name}`, parameter, step, bins);
      this.#add(`weight norm/${name}`, step, () => parameter.norm());
      if (grad === null) continue;
      if (histograms) this.#recorder.addHistogram(`gradient/${name}`, grad, step, bins);
      this.#add(`gradient norm/${name}`, step, () => grad.norm());
    }
  }

  #addChanges(
    step: number,
    parameters: readonly [string, nn.Parameter][],
    before: readonly Tensor[],
  ): void {
    parameters.forEach(([name, parameter], i) => {
      const old = before[i] as Tensor;
      const isChanged = parameter.requiresGrad && parameter.grad !== null;
      if (!isChanged || !parameter.shape.every((size, axis) => size === old.shape[axis])) return;
      this.#add(`update ratio/${name}`, step, () =>
        parameter.detach().sub(old).norm().div(old.norm().clampMin(kSmallest)),
      );
    });
  }

  #addDeadUnits(step: number): void {
    for (const [path, share] of this.#dead) this.#add(`dead units/${path}`, step, () => share);
    this.#forget();
  }

  // The units of images [N, C, H, W] are their channels; otherwise they are the last dimension.
  #look(path: string, output: unknown): void {
    if (!(output instanceof Tensor) || output.ndim === 0) return;
    const unit = output.ndim >= 4 ? 1 : output.ndim - 1;
    const others = output.shape.map((_, axis) => axis).filter((axis) => axis !== unit);
    const share = scope(() =>
      noGrad(() => {
        const isOff = output.detach().eq(0).to("float32");
        const isAlwaysOff = others.length === 0 ? isOff : isOff.amin(others);
        // A scope around the forward pass may end before update().
        return keep(isAlwaysOff.mean());
      }),
    );
    this.#dead.get(path)?.dispose();
    this.#dead.set(path, share);
  }

  #forget(): void {
    for (const share of this.#dead.values()) share.dispose();
    this.#dead.clear();
  }

  #add(tag: string, step: number, value: () => Tensor): void {
    scope(() =>
      noGrad(() => {
        this.#recorder.addScalar(tag, value(), step);
      }),
    );
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

// Below this, weights count as zero in a ratio.
const kSmallest = 1e-12;

/** Watches a module in training; `update()` of the result adds measurements to a run of a log or a writer. */
export function watch(module: nn.Module, recorder: Recorder, options: WatchOptions = {}): Watcher {
  checkModule("watch", module);
  if (!(recorder instanceof Recorder))
    refuse("watch", "recorder", "a run of a log or a writer", recorder);
  const given = { ...defaults(), ...options };
  if (!Number.isSafeInteger(given.every) || given.every < 1)
    refuse("watch", "every", "an integer from 1 on", given.every);
  const { activations } = given;
  const areClasses = Array.isArray(activations) && activations.every(isClass);
  if (!areClasses) refuse("watch", "activations", "an array of classes", activations);
  return new Watcher(module, recorder, given);
}

const isClass = (value: unknown) => typeof value === "function";

const defaults = (): Required<WatchOptions> => ({
  every: 10,
  histograms: true,
  bins: 30,
  activations: [nn.ReLU, nn.ReLU6],
});
