// eg.autograd.graph.allowMutationOnSavedTensors(): tensors that were saved for backward are copied before they are changed in place.
//
// Hooks on saved tensors store aliases of them, by the memory that they are in. Every operation in the function is intercepted: before one
// changes a tensor, the saved tensors in its memory are replaced by copies.

import { native } from "../runtime/bridge/bridge.js";
import { Droppable, heldValue, holdValue } from "../runtime/bridge/callbacks.js";
import { fail } from "../runtime/errors/errors.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";
import { noGrad } from "./grad_mode.js";
import { checkFunction } from "./hooks.js";
import { interceptedBy, type OpCall } from "./op_interceptor.js";
import { withSavedTensorHooks } from "./saved_tensors.js";

const kName = "allowMutationOnSavedTensors";

/** What the mode has saved. */
export interface MutationContext {
  /** The number of tensors that are saved. */
  readonly savedCount: number;
  /** The number of these that were copied, because they have been changed since. */
  readonly clonedCount: number;
}

let isRunning = false;

/**
 * Runs `fn` and returns its value. Tensors that are saved in it may be changed in place by operations in it, including steps of
 * optimizers: they are copied before. Backward must run in `fn` too.
 */
export function allowMutationOnSavedTensors<T>(fn: (context: MutationContext) => T): T {
  checkFunction(kName, fn);
  if (isRunning) fail("InvalidArgument", kName, "it cannot be nested.");
  const context = new Context();
  isRunning = true;
  try {
    return withSavedTensorHooks(kName, context.pack, context.unpack, () =>
      interceptedBy(kName, context.beforeCall, () => fn(context)),
    );
  } finally {
    isRunning = false;
    context.clear();
  }
}

// A saved tensor of one version, which several nodes may have saved.
class Saved {
  holders = 0;
  isCloned = false;

  constructor(
    readonly key: string,
    readonly storage: number,
    public tensor: Tensor,
  ) {
    tensor.isKept = true;
  }
}

// What a node has instead of a saved tensor.
class Holder extends Droppable {
  constructor(
    private readonly context: Context,
    readonly saved: Saved,
  ) {
    super();
    saved.holders++;
  }

  override onDrop(): void {
    if (--this.saved.holders === 0) this.context.forget(this.saved);
  }
}

class Context implements MutationContext {
  #all = new Set<Saved>();
  // Those that are not copies, by the memory and the version.
  #originals = new Map<number, Map<string, Saved>>();

  get savedCount(): number {
    return this.#all.size;
  }

  get clonedCount(): number {
    return [...this.#all].filter(({ isCloned }) => isCloned).length;
  }

  readonly pack = ([handle = 0]: readonly number[]): number[] => {
    const tensor = new Tensor(handle);
    const storage = native.storageAddress(handle);
    const { version, offset, shape, strides, dtype } = tensor;
    const key = `${version} ${offset} ${shape} ${strides} ${dtype}`;
    const own = this.#originals.get(storage) ?? new Map<string, Saved>();
    let saved = own.get(key);
    if (saved === undefined) {
      saved = new Saved(key, storage, tensor.detach());
      own.set(key, saved);
      this.#originals.set(storage, own);
      this.#all.add(saved);
    }
    tensor.dispose();
    return [0, holdValue(new Holder(this, saved))];
  };

  readonly unpack = ([, id = 0]: readonly number[]): number[] => {
    const { saved } = heldValue(id) as Holder;
    if (!this.#all.has(saved)) {
      fail(
        "InvalidArgument",
        kName,
        "backward must run in the same call in which the graph was recorded.",
      );
    }
    return [handleOf(saved.tensor), 0];
  };

  readonly beforeCall = (call: OpCall) => {
    if (!call.isComposite) for (const tensor of changedBy(call)) this.#copySaved(tensor);
    return call.run();
  };

  #copySaved(tensor: Tensor): void {
    const storage = native.storageAddress(handleOf(tensor));
    const own = this.#originals.get(storage);
    if (own === undefined) return;
    this.#originals.delete(storage);
    for (const saved of own.values()) {
      const copy = noGrad(() => saved.tensor.clone());
      copy.isKept = true;
      saved.tensor.dispose();
      saved.tensor = copy;
      saved.isCloned = true;
    }
  }

  forget(saved: Saved): void {
    if (!this.#all.delete(saved)) return;
    saved.tensor.dispose();
    if (saved.isCloned) return;
    const own = this.#originals.get(saved.storage);
    own?.delete(saved.key);
    if (own?.size === 0) this.#originals.delete(saved.storage);
  }

  clear(): void {
    for (const { tensor } of this.#all) tensor.dispose();
    this.#all.clear();
    this.#originals.clear();
  }
}

// The tensors that a call may change. The step of an optimizer changes some of its lists.
function changedBy({ changes, values }: OpCall): Tensor[] {
  if (changes === null) return [];
  const all = Array.isArray(changes) ? Object.values(values).flat() : [changes];
  return all.filter((value): value is Tensor => value instanceof Tensor);
}
