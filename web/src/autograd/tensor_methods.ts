// What Tensor has of autograd.

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
import { type BackwardArguments, backwardAsyncOf, backwardOf } from "./run.js";

/** The properties and methods of Tensor that deal with gradients and the graph. */
export interface AutogradMethods {
  /** The gradient that backward() has added up here, or null. */
  get grad(): Tensor | null;
  set grad(value: Tensor | null);

  /** The node that computed this tensor, or null for a leaf. */
  get gradFn(): Node | null;

  /**
   * Adds the gradients of this tensor, times `gradient`, to the `grad` of all leaves it was computed
   * from. A tensor of one element needs no `gradient`.
   */
  backward(...given: BackwardArguments): void;

  /**
   * Like backward(), but the work is done on another thread; hooks run on the one that registered them.
   * Without threads it is done here, in pieces of some milliseconds between which the program goes on; a
   * single operation is not divided.
   */
  backwardAsync(...given: BackwardArguments): Promise<void>;

  /**
   * Calls `hook` with the gradient of this tensor each time it is computed; what it returns is used
   * instead.
   */
  registerHook(hook: GradHook): HookHandle;

  /** Calls `hook` with this leaf each time a backward call has updated its `grad`. */
  registerPostAccumulateGradHook(hook: PostAccumulateGradHook): HookHandle;
}

/** What AutogradMethods declares. */
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
