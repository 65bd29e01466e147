// The properties and methods of Tensor that belong to autograd.

import type { Tensor } from "../tensor/tensor.js";
import { gradOf, setGradOf } from "./grad_property.js";
import {
  type GradHook,
  type HookHandle,
  type PostAccumulateGradHook,
  registerHook,
  registerPostAccumulateGradHook,
} from "./hooks.js";
import { gradFnOf, type Node } from "./node.js";
import {
  type BackwardArguments,
  type BackwardAsyncOptions,
  backwardAsyncOf,
  backwardOf,
} from "./run.js";

/** The properties and methods of Tensor for gradients and the graph. */
export interface AutogradMethods {
  /** The gradient that backward() has accumulated, or null. */
  get grad(): Tensor | null;
  set grad(value: Tensor | null);

  /** The node of the operation that computed this tensor, or null for a leaf. */
  get gradFn(): Node | null;

  /**
   * Computes the gradients of this tensor, weighted by `gradient`, and adds them to the `grad` of all leaves that it
   * was computed from. For a tensor with one element, `gradient` may be omitted.
   */
  backward(...given: BackwardArguments): void;

  /**
   * Like backward(), but computes on another thread; hooks run on the thread that registered them. Without threads, it
   * computes on this thread in slices of some milliseconds, between which the event loop runs; a single operation
   * is never split. With a `signal`, the promise can reject sooner.
   */
  backwardAsync(...given: BackwardArguments<BackwardAsyncOptions>): Promise<void>;

  /**
   * Calls `hook` with the gradient of this tensor each time it is computed. If the hook returns a tensor, that
   * replaces the gradient.
   */
  registerHook(hook: GradHook): HookHandle;

  /** Calls `hook` with this leaf each time a backward call has updated its `grad`. */
  registerPostAccumulateGradHook(hook: PostAccumulateGradHook): HookHandle;
}

/** Implements AutogradMethods. */
export const kAutogradMethods: AutogradMethods & ThisType<Tensor> = {
  get grad() {
    return gradOf(this);
  },

  set grad(value) {
    setGradOf(this, value);
  },

  get gradFn() {
    return gradFnOf(this);
  },

  backward(...given) {
    backwardOf(this, given);
  },

  async backwardAsync(...given) {
    await backwardAsyncOf(this, given);
  },

  registerHook(hook) {
    return registerHook(this, hook);
  },

  registerPostAccumulateGradHook(hook) {
    return registerPostAccumulateGradHook(this, hook);
  },
};
