// eg.warmup(): runs a function before its results are needed, and restores what it has changed.

import { isPlainObject, readOptions } from "../arguments/read.js";
import { functionOf, listOf, type Options, Rule } from "../arguments/rule.js";
import { gpuInfo } from "../engine/gpu.js";
import { zeros } from "../generated/ops.js";
import { readState, writeState } from "../ops/generator.js";
import { keep, scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { noGrad } from "./grad_mode.js";

/** An object with state that can be saved and loaded: an optimizer, a scheduler, a GradScaler. */
export interface Stateful {
  /** Returns the state. */
  // biome-ignore lint/suspicious/noExplicitAny: every class has its own type of state.
  stateDict(): any;
  /** Takes a state over. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  loadStateDict(state: any): unknown;
}

/** What `warmup` can restore: a tensor, a module, or an object with stateDict() and loadStateDict(). */
export type Restorable = Tensor | Stateful;

const kOptions = {
  /** Modules, optimizers, schedulers, scalers and tensors that have their old values afterwards; default none. */
  restore: listOf(
    new Rule<Restorable>(
      "tensors, modules, or objects with stateDict() and loadStateDict()",
      (value) => value instanceof Tensor || isStateful(value),
    ),
  ).or([]),
};

/** Options of `warmup`. */
export type WarmupOptions = Options<typeof kOptions>;

const kFunction = functionOf<() => unknown>();

/**
 * Runs `fn` once, so that later calls do not wait for what is prepared once: shaders of the WebGPU device, and parts of the
 * engine that are loaded when they are first used. Resolves when the device has done all the work.
 *
 * Everything in `restore` has its old values afterwards: of modules the parameters, the buffers and their gradients; of optimizers and
 * other objects with stateDict() that state; of tensors the elements and the gradient. Random numbers of the global generator
 * repeat. Whatever else `fn` changes remains changed. Until the promise resolves, the copies take as much memory as what is restored,
 * and nobody else may change that. Tensors made in `fn` are freed as in `scope`, also those that it returns; `fn` may be asynchronous.
 * Call `capture` afterwards: a function that `fn` captures would use gradients and optimizer state that are replaced.
 *
 * If `fn` throws, everything is restored and the promise is rejected with its error. InvalidArgument for other arguments.
 */
export async function warmup(
  fn: () => unknown,
  ...given: [options?: WarmupOptions]
): Promise<void> {
  kFunction.check("warmup", "fn", fn);
  const { restore } = readOptions("warmup", kOptions, given);
  const random = readState();
  const saved = restore.map(save);
  try {
    await scope(async () => {
      await fn();
    });
    await untilPlayed();
  } finally {
    scope(() => {
      for (const restored of saved) restored();
    });
    writeState("warmup", random);
  }
}

// The device plays commands in their order, so everything before this read has been done.
async function untilPlayed(): Promise<void> {
  if (gpuInfo() === null) return;
  const last = keep(zeros([1], { device: "webgpu" }));
  try {
    await last.data();
  } finally {
    last.dispose();
  }
}

function isStateful(value: unknown): value is Stateful {
  const { stateDict, loadStateDict } = (value ?? {}) as Partial<Stateful>;
  return typeof stateDict === "function" && typeof loadStateDict === "function";
}

interface ModuleLike {
  parameters(): Iterable<Tensor>;
  buffers(): Iterable<Tensor>;
}

function isModule(value: object): value is ModuleLike {
  const { parameters, buffers } = value as Partial<ModuleLike>;
  return typeof parameters === "function" && typeof buffers === "function";
}

// Returns the function that restores what a value is now.
function save(value: Restorable): () => void {
  if (value instanceof Tensor) return saveTensor(value);
  if (isModule(value)) {
    const all = [...value.parameters(), ...value.buffers()].map(saveTensor);
    return () => {
      for (const restore of all) restore();
    };
  }
  const copies: Tensor[] = [];
  const state = copyOf(value.stateDict(), copies);
  return () => {
    value.loadStateDict(state);
    for (const copy of copies) copy.dispose();
  };
}

function saveTensor(tensor: Tensor): () => void {
  const { grad } = tensor;
  const version = versionOf(tensor);
  const elements = copied(tensor);
  const gradElements = grad && copied(grad);
  return () => {
    // Restoring is a change as well, which a tensor that nobody has changed need not have.
    if (version === null || versionOf(tensor) !== version) noGrad(() => tensor.copy_(elements));
    elements.dispose();
    if (grad === null || gradElements === null) {
      if (tensor.grad !== null) tensor.grad = null;
      return;
    }
    if (grad.disposed) {
      tensor.grad = gradElements;
      return;
    }
    noGrad(() => grad.copy_(gradElements));
    gradElements.dispose();
    tensor.grad = grad;
  };
}

// Tensors made in inference mode count no changes.
const versionOf = (tensor: Tensor) => (tensor.isInference ? null : tensor.version);

// Returns a copy of a state, and adds its tensors to a list.
function copyOf(state: unknown, copies: Tensor[]): unknown {
  if (state instanceof Tensor) {
    const copy = copied(state);
    copies.push(copy);
    return copy;
  }
  if (Array.isArray(state)) return state.map((part) => copyOf(part, copies));
  if (!isPlainObject(state)) return state;
  return Object.fromEntries(
    Object.entries(state).map(([key, part]) => [key, copyOf(part, copies)]),
  );
}

// No scope of the program frees it.
const copied = (tensor: Tensor) => keep(scope(() => noGrad(() => tensor.detach().clone())));
