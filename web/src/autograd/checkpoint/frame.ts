// A call of checkpoint() that computes values again in backward.
//
// The tensors that the checkpointed function saves for backward are not stored. Instead, each is represented by
// a holder, numbered in the order of saving. When backward needs the first of them, the function runs again; the
// tensors it saves are matched with the holders by number, and the function is stopped as soon as all have been
// found. The arguments are saved like the operands of any operation (SavedArguments): their versions are
// checked, and inside another checkpoint they are recomputed as well. Each backward call recomputes
// separately.

import { empty } from "../../generated/ops.js";
import { native } from "../../runtime/bridge/bridge.js";
import { Droppable, heldValue, holdValue } from "../../runtime/bridge/callbacks.js";
import { EdgeGradError } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { queueCallback } from "../backward_callbacks.js";
import { Function as AutogradFunction, type FunctionContext, replacingJvps } from "../function.js";
import { recording } from "../recording.js";
import { withSavedTensorHooks } from "../saved_tensors.js";
import { CallContext } from "./call_context.js";
import type { Contexts } from "./contexts.js";

/** How a call of checkpoint() works. */
export interface FrameSettings {
  /** Whether a recomputation stops when all tensors have been found. */
  readonly stopsEarly: boolean;
  /** Whether recomputed tensors must have the shapes, dtypes and devices of the first ones. */
  readonly isChecked: boolean;
  readonly preserveRngState: boolean;
  /** What runs around the function. */
  readonly contexts: Contexts;
  /** Returns what to append to a message about a recomputation that differs. */
  readonly explain: () => string;
}

/** Saves arguments in the same way as any operation saves its operands. */
class SavedArguments extends AutogradFunction {
  static override readonly generateVmapRule = true;

  static override forward(
    ctx: FunctionContext,
    _anchor: Tensor,
    store: { ctx?: FunctionContext },
    ...tensors: Tensor[]
  ): Tensor {
    ctx.saveForBackward(...tensors);
    store.ctx = ctx;
    return empty([0]);
  }

  static override jvp(): null {
    return null;
  }
}

// Represents a saved tensor that is not stored.
class Holder extends Droppable {
  constructor(
    private readonly frame: Frame,
    readonly index: number,
  ) {
    super();
  }

  override onDrop(): void {
    this.frame.onHolderDropped();
  }
}

// The properties of a saved tensor, to compare with the recomputed one.
interface TensorMetadata {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly device: string;
}

/** The state of one call of checkpoint(). */
export class Frame {
  readonly #metadata: TensorMetadata[] = [];
  readonly #context: CallContext;
  readonly #store: { ctx?: FunctionContext } = {};
  // The output of SavedArguments, which keeps the node with the saved arguments alive.
  readonly #anchor: Tensor;
  #holders = 0;
  #isForward = true;
  // The recomputed tensors, by backward call and by number.
  readonly #found = new Map<number, Map<number, Tensor>>();

  constructor(
    private readonly fn: (...inputs: unknown[]) => unknown,
    private readonly inputs: unknown[],
    private readonly settings: FrameSettings,
  ) {
    this.#context = new CallContext(settings.preserveRngState);
    const seed = empty([0], { requiresGrad: true });
    const tensors = inputs.filter((input) => input instanceof Tensor);
    this.#anchor = replacingJvps(null, () => SavedArguments.apply(seed, this.#store, ...tensors));
    seed.dispose();
    // Freed together with the last holder, which may outlive the scope of the call.
    this.#anchor.isKept = true;
    this.inputs = inputs.map((input) => (input instanceof Tensor ? kSaved : input));
  }

  /** Runs the function for the first time: `first` calls it. */
  run<T>(first: () => T): T {
    const inContext = () => this.settings.contexts.forward(first);
    return this.#context.recordingRandomness(() =>
      withSavedTensorHooks("checkpoint", this.#pack, this.#unpack, inContext),
    );
  }

  readonly #pack = ([handle = 0]: readonly number[]): number[] => {
    const tensor = new Tensor(handle);
    this.#metadata.push(metadataOf(tensor));
    observer?.(tensor);
    tensor.dispose();
    this.#holders++;
    return [0, holdValue(new Holder(this, this.#metadata.length - 1))];
  };

  readonly #unpack = ([, id = 0]: readonly number[]): number[] => {
    const { index } = heldValue(id) as Holder;
    const found = this.#foundFor(native.graphTaskId());
    const tensor = found.get(index);
    found.delete(index);
    if (tensor !== undefined) return [giveHandle(tensor), 1];
    return failCheckpoint(
      "a saved tensor was read twice in one backward call, but is recomputed only once. Read ctx.savedTensors " +
        "only once in a custom backward.",
    );
  };

  endForward(): void {
    this.#isForward = false;
    if (this.#holders === 0) this.#release();
  }

  onHolderDropped(): void {
    this.#holders--;
    if (this.#holders === 0 && !this.#isForward) this.#release();
  }

  #release(): void {
    this.#anchor.dispose();
    this.#context.dispose();
    this.settings.contexts.release?.();
    for (const call of this.#found.keys()) this.#forget(call);
  }

  #foundFor(call: number): Map<number, Tensor> {
    const known = this.#found.get(call);
    if (known !== undefined) return known;
    const found = this.#recompute();
    // Outside a backward call, every read recomputes.
    if (call < 0) return found;
    this.#found.set(call, found);
    queueCallback(() => this.#forget(call));
    return found;
  }

  #forget(call: number): void {
    for (const tensor of this.#found.get(call)?.values() ?? []) tensor.dispose();
    this.#found.delete(call);
  }

  #recompute(): Map<number, Tensor> {
    const tensors = this.#store.ctx?.savedTensors ?? [];
    const inputs = this.inputs.map((input) => (input === kSaved ? tensors.shift() : input));
    const found = new Map<number, Tensor>();
    const { stopsEarly, contexts } = this.settings;
    const pack = ([handle = 0]: readonly number[]): number[] => {
      const tensor = new Tensor(handle);
      // `fn` may have caught kStop and continued.
      if (found.size >= this.#metadata.length) {
        if (!stopsEarly && this.#isForward) {
          // A derivative inside of the function, which has not saved everything yet.
          tensor.isKept = true;
          return [1, handle];
        }
        tensor.dispose();
        if (stopsEarly) throw kStop;
        this.#fail("the recomputation saved more tensors than the forward.");
      }
      tensor.isKept = true;
      found.set(found.size, tensor);
      // All saved tensors have been found, so the rest of `fn` need not run.
      if (stopsEarly && found.size >= this.#metadata.length) throw kStop;
      return [1, handle];
    };
    const unpack = ([, handle = 0]: readonly number[]) => [handle, 1];
    try {
      this.#context.restored(() =>
        recording(() =>
          withSavedTensorHooks("checkpoint", pack, unpack, () =>
            contexts.recompute(() => this.fn(...inputs)),
          ),
        ),
      );
    } catch (error) {
      // Once all tensors have been found, the error is a consequence of stopping `fn`.
      if (!stopsEarly || found.size < this.#metadata.length) throw error;
    }
    this.#checkFound(found);
    return found;
  }

  #checkFound(found: ReadonlyMap<number, Tensor>): void {
    if (found.size !== this.#metadata.length) {
      this.#fail(
        `the recomputation saved ${found.size} tensors, the forward ${this.#metadata.length}. The function must do ` +
          "the same each time it runs.",
      );
    }
    if (!this.settings.isChecked) return;
    const differences = this.#metadata.flatMap((metadata, i) => {
      const [saved, recomputed] = [metadata, metadataOf(found.get(i) as Tensor)].map((facts) =>
        JSON.stringify(facts),
      );
      if (saved === recomputed) return [];
      return [`saved tensor ${i}:\nin forward: ${saved}\nrecomputed: ${recomputed}`];
    });
    if (differences.length === 0) return;
    this.#fail(
      "recomputed tensors differ from those of the forward in shape, dtype or device.\n" +
        differences.join("\n"),
    );
  }

  #fail(message: string): never {
    failCheckpoint(message + this.settings.explain());
  }
}

let observer: ((tensor: Tensor) => void) | null = null;

/** Runs `fn` and passes every tensor that a checkpoint does not store in it to `observe`. */
export function observingSaved<T>(observe: (tensor: Tensor) => void, fn: () => T): T {
  const before = observer;
  observer = observe;
  try {
    return fn();
  } finally {
    observer = before;
  }
}

// Marks the position of a saved tensor among the inputs.
const kSaved = Symbol("saved");

// Thrown to stop a recomputation that has found all saved tensors.
const kStop = Symbol("stop");

function metadataOf({ shape, dtype, device }: Tensor): TensorMetadata {
  return { shape, dtype, device };
}

// Transfers ownership of the handle out of its wrapper.
function giveHandle(tensor: Tensor): number {
  const { handle } = tensor;
  tensor.handle = 0;
  return handle;
}

function failCheckpoint(message: string): never {
  throw new EdgeGradError("InvalidArgument", `[checkpoint] ${message}`);
}
