// Memory for time: eg.autograd.checkpoint().
//
// What the checkpointed function saves for backward is not kept. In its place stand holders, numbered
// in the order of saving; when backward asks for the first of them, the function runs again, its
// savings are handed to the holders by their numbers, and it is stopped as soon as all have been
// served. The arguments are saved like an operation saves its own (SavedArguments): their versions are
// checked, and inside another checkpoint they are recomputed as well. Each backward call recomputes
// for itself.

import { interpretedBy, interpreter } from "../dispatch/interpreter.js";
import { empty } from "../generated/ops.js";
import { drawingFrom, drawingIsolated, generatorState } from "../ops/generator.js";
import { native } from "../runtime/bridge.js";
import { Droppable, heldValue, holdValue } from "../runtime/callbacks.js";
import { EdgeGradError } from "../runtime/errors.js";
import { dtypeCode } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { queueCallback } from "./backward_callbacks.js";
import { Function as AutogradFunction, type FunctionContext } from "./function.js";
import { isGradEnabled } from "./grad_mode.js";
import { checkFunction } from "./hooks.js";
import { recording } from "./recording.js";
import { withSavedTensorHooks } from "./saved_tensors.js";

/**
 * Returns fn(...inputs), keeping only the inputs for backward, which runs `fn` again to find what it
 * needs. `fn` must do the same each time: it meets the same autocast, default dtype and random numbers.
 */
export function checkpoint<Args extends unknown[], T>(
  fn: (...inputs: Args) => T,
  ...inputs: Args
): T {
  checkFunction("checkpoint", fn);
  if (!isGradEnabled()) return fn(...inputs);
  const frame = new Frame(fn as (...inputs: unknown[]) => unknown, inputs);
  try {
    return frame.run(() =>
      withSavedTensorHooks("checkpoint", frame.pack, frame.unpack, () => fn(...inputs)),
    );
  } finally {
    frame.endForward();
  }
}

/** Keeps arguments like any operation keeps its operands. */
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
}

// What a function meets when it is called: all that its results depend on beside its arguments and grad mode.
class Modes {
  readonly #drawn = generatorState();
  readonly #defaultDtype = native.defaultDtype();
  readonly #autocast = autocastCode();
  readonly #interpreter = interpreter;

  constructor() {
    // It may be wanted after the scope of the call.
    this.#drawn.isKept = true;
  }

  dispose(): void {
    this.#drawn.dispose();
  }

  /** Runs `fn` so that its random numbers can be repeated. */
  noting<T>(fn: () => T): T {
    return drawingIsolated(this.#drawn, fn);
  }

  /** Runs `fn` as at the time when this was made. */
  restored<T>(fn: () => T): T {
    const defaultDtype = native.defaultDtype();
    const autocast = native.setAutocast(this.#autocast);
    native.setDefaultDtype(this.#defaultDtype);
    try {
      return interpretedBy(this.#interpreter, () => drawingFrom(this.#drawn, fn));
    } finally {
      native.setDefaultDtype(defaultDtype);
      native.setAutocast(autocast);
    }
  }
}

// The dtype that autocast rounds to, which the engine tells to who sets another.
function autocastCode(): number {
  const code = native.setAutocast(dtypeCode("float32", "checkpoint"));
  native.setAutocast(code);
  return code;
}

// Stands for a saved tensor.
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

// What a saved tensor looked like.
interface Kind {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly device: string;
}

// One call of checkpoint().
class Frame {
  readonly #kinds: Kind[] = [];
  readonly #modes = new Modes();
  readonly #store: { ctx?: FunctionContext } = {};
  // The output of SavedArguments, which keeps its node.
  readonly #anchor: Tensor;
  #holders = 0;
  #isForward = true;
  // What recomputing has found, by backward call and number.
  readonly #found = new Map<number, Map<number, Tensor>>();

  constructor(
    private readonly fn: (...inputs: unknown[]) => unknown,
    private readonly inputs: unknown[],
  ) {
    const seed = empty([0], { requiresGrad: true });
    const tensors = inputs.filter((input) => input instanceof Tensor);
    this.#anchor = SavedArguments.apply(seed, this.#store, ...tensors);
    seed.dispose();
    // Freed with the last holder, which may outlive the scope of the call.
    this.#anchor.isKept = true;
    this.inputs = inputs.map((input) => (input instanceof Tensor ? kSaved : input));
  }

  /** Runs the function for the first time. */
  run<T>(first: () => T): T {
    return this.#modes.noting(first);
  }

  readonly pack = ([handle = 0]: readonly number[]): number[] => {
    const tensor = new Tensor(handle);
    this.#kinds.push(kindOf(tensor));
    tensor.dispose();
    this.#holders++;
    return [0, holdValue(new Holder(this, this.#kinds.length - 1))];
  };

  readonly unpack = ([, id = 0]: readonly number[]): number[] => {
    const { index } = heldValue(id) as Holder;
    const found = this.#foundFor(native.graphTaskId());
    const tensor = found.get(index);
    found.delete(index);
    if (tensor !== undefined) return [giveHandle(tensor), 1];
    return failCheckpoint(
      "Unpack is being triggered for a tensor that was already unpacked once. If you are calling " +
        "ctx.saved_tensors in backward, make sure to do so only once.",
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
    this.#modes.dispose();
    for (const call of this.#found.keys()) this.#forget(call);
  }

  #foundFor(call: number): Map<number, Tensor> {
    const known = this.#found.get(call);
    if (known !== undefined) return known;
    const found = this.#recompute();
    // Outside of a backward call every reading recomputes.
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
    const pack = ([handle = 0]: readonly number[]): number[] => {
      const tensor = new Tensor(handle);
      // `fn` may catch what is to stop it, and go on.
      if (found.size >= this.#kinds.length) {
        tensor.dispose();
        throw kStop;
      }
      tensor.isKept = true;
      found.set(found.size, tensor);
      // Enough, unless the forward is not over yet: then more may come.
      if (found.size >= this.#kinds.length) throw kStop;
      return [1, handle];
    };
    const unpack = ([, handle = 0]: readonly number[]) => [handle, 1];
    try {
      this.#modes.restored(() =>
        recording(() => withSavedTensorHooks("checkpoint", pack, unpack, () => this.fn(...inputs))),
      );
    } catch (error) {
      // With all of them found, it comes of having been stopped.
      if (found.size < this.#kinds.length) throw error;
    }
    this.#checkFound(found);
    return found;
  }

  #checkFound(found: ReadonlyMap<number, Tensor>): void {
    if (found.size !== this.#kinds.length) {
      failCheckpoint(
        "A different number of tensors was saved during the original forward and recomputation.\n" +
          `Number of tensors saved during forward: ${this.#kinds.length}\n` +
          `Number of tensors saved during recomputation: ${found.size}`,
      );
    }
    const differences = this.#kinds.flatMap((kind, i) => {
      const [saved, recomputed] = [kind, kindOf(found.get(i) as Tensor)].map((one) =>
        JSON.stringify(one),
      );
      if (saved === recomputed) return [];
      return [
        `tensor at position ${i}:\nsaved metadata: ${saved}\nrecomputed metadata: ${recomputed}`,
      ];
    });
    if (differences.length === 0) return;
    failCheckpoint(
      "Recomputed values for the following tensors have different metadata than during the forward pass.\n" +
        differences.join("\n"),
    );
  }
}

// Where a saved tensor stands among the inputs.
const kSaved = Symbol("saved");

// Ends a recomputation that has found all it was after.
const kStop = Symbol("stop");

function kindOf({ shape, dtype, device }: Tensor): Kind {
  return { shape, dtype, device };
}

// Takes the handle out of its wrapper.
function giveHandle(tensor: Tensor): number {
  const { handle } = tensor;
  tensor.handle = 0;
  return handle;
}

function failCheckpoint(message: string): never {
  throw new EdgeGradError("InvalidArgument", `[checkpoint] ${message}`);
}
