// autograd.Function: an operation whose forward and backward are JavaScript.

import { boolean } from "../arguments/rule.js";
import { interpretedBy, interpreter } from "../dispatch/interpreter.js";
import { checkedFor, frameOf, native, takeWords } from "../runtime/bridge.js";
import { holdFunction } from "../runtime/callbacks.js";
import { describe, fail } from "../runtime/errors.js";
import { handleOf } from "../tensor/info.js";
import { Tensor, takeTensor } from "../tensor/tensor.js";
import { noGrad } from "./grad_mode.js";

/** What forward and backward of one call share; any property may be added to it. */
export class FunctionContext {
  // biome-ignore lint/suspicious/noExplicitAny: what a user keeps here is the user's business.
  [property: string]: any;

  readonly #id: number;
  readonly #argumentCount: number;

  /** Belongs to the node whose backward has the number `id`. @internal */
  constructor(id: number, argumentCount: number) {
    this.#id = id;
    this.#argumentCount = argumentCount;
  }

  /** Keeps arguments or results of forward for backward; anything else is better a property. */
  saveForBackward(...tensors: (Tensor | null)[]): void {
    writeWords(handlesOf(tensors));
    checkedFor("saveForBackward", native.saveForBackward(this.#id, tensors.length));
  }

  /** What saveForBackward() kept. */
  get savedTensors(): Tensor[] {
    const count = checkedFor("savedTensors", native.savedTensors(this.#id));
    // Typed without null for the sake of the usual case.
    return takeWords(count).map(takeTensor) as Tensor[];
  }

  /** Says which arguments forward has changed in place; it must return them. */
  markDirty(...tensors: Tensor[]): void {
    writeWords(handlesOf(tensors));
    checkedFor("markDirty", native.markDirty(this.#id, tensors.length));
  }

  /** Says which results have no gradient. */
  markNonDifferentiable(...tensors: Tensor[]): void {
    writeWords(handlesOf(tensors));
    checkedFor("markNonDifferentiable", native.markNonDifferentiable(this.#id, tensors.length));
  }

  /** Whether backward gets zeros for results without a gradient (the default), or null. */
  setMaterializeGrads(value: boolean): void {
    boolean.check("setMaterializeGrads", "value", value);
    checkedFor("setMaterializeGrads", native.setMaterializeGrads(this.#id, value));
  }

  /** For every argument of forward, whether its gradient is wanted. */
  get needsInputGrad(): boolean[] {
    return Array.from(
      { length: this.#argumentCount },
      (_, i) => checkedFor("needsInputGrad", native.needsInputGrad(this.#id, i)) !== 0,
    );
  }
}

/** What backward returns: a gradient per argument of forward, null for those without. */
export type FunctionGradients =
  | Tensor
  | null
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a backward without a result returns nothing.
  | void
  | readonly (Tensor | null | undefined)[];

/** What the static `vmap` of a Function is told of the call of vmap() that it is within. */
export interface VmapInfo {
  /** Samples in the batch. */
  readonly batchSize: number;
  /** What random operations are to do. */
  readonly randomness: "error" | "different" | "same";
}

interface FunctionClass<Args extends unknown[], Output> {
  readonly name: string;
  readonly onceDifferentiable?: boolean;
  forward(ctx: FunctionContext, ...args: Args): Output;
  backward(ctx: FunctionContext, ...grads: Tensor[]): FunctionGradients;
}

/**
 * An operation with a gradient of its own: a subclass defines `forward` and `backward` as static
 * methods, and is used by its `apply`.
 */
// biome-ignore lint/suspicious/noShadowRestrictedNames: PyTorch's name.
// biome-ignore lint/complexity/noStaticOnlyClass: made to be extended.
export abstract class Function {
  /** True when backward cannot be differentiated itself. */
  static readonly onceDifferentiable?: boolean;

  /** Computes the results; nothing in it is recorded. */
  static forward(_ctx: FunctionContext, ..._args: never[]): unknown {
    fail(
      "InvalidArgument",
      "Function",
      "You must implement the forward function for custom autograd.Function.",
    );
  }

  /** Takes a gradient per result and returns one per argument. */
  static backward(_ctx: FunctionContext, ..._grads: never[]): FunctionGradients {
    fail(
      "NotDifferentiable",
      "Function",
      "You must implement either the backward or vjp method for your custom autograd.Function to use it with " +
        "backward mode AD.",
    );
  }

  /** True when vmap() is to make a rule of forward and backward, which then have to consist of what it can run. */
  static readonly generateVmapRule?: boolean;

  /**
   * Computes a batch inside of `eg.func.vmap`: gets for every argument the dimension of the batch, or null, and the arguments
   * with it; returns [output, outDims], the dimension of the batch in the output, or a list of them.
   */
  static vmap(_info: VmapInfo, _inDims: readonly (number | null)[], ..._args: never[]): unknown {
    return fail("InvalidArgument", "Function", "this Function has no vmap() of its own.");
  }

  /** Runs forward and records it. */
  static apply<Args extends unknown[], Output>(
    this: FunctionClass<Args, Output>,
    ...args: Args
  ): Output {
    if (interpreter !== null) {
      // biome-ignore lint/complexity/noThisInStatic: it is the subclass that matters.
      return interpreter.apply(this, args) as Output;
    }
    // biome-ignore lint/complexity/noThisInStatic: as above.
    return applyFunction(this, args);
  }
}

const utf8 = new TextEncoder();

function applyFunction<Args extends unknown[], Output>(
  fn: FunctionClass<Args, Output>,
  args: Args,
): Output {
  const name = fn.name || "Function";
  const argumentHandles = handlesOf(args);
  const backward = (words: readonly number[]) =>
    // What comes from the engine is no batch, whatever is running when it comes.
    interpretedBy(null, () =>
      gradientHandles(name, fn.backward(ctx, ...(words.map(takeTensor) as Tensor[]))),
    );
  const callback = holdFunction(backward, name);
  const ctx = new FunctionContext(callback, args.length);
  const nameBytes = utf8.encode(name);
  writeWords([...argumentHandles, ...nameBytes]);
  const isOnce = fn.onceDifferentiable === true;
  const words = [callback, args.length, nameBytes.length, isOnce] as const;
  const node = checkedFor(name, native.beginFunction(...words));
  try {
    const raw = noGrad(() => fn.forward(ctx, ...args));
    const outputs: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
    writeWords(handlesOf(outputs));
    checkedFor(name, native.endFunction(callback, outputs.length));
    const handles = takeWords(outputs.length);
    const results = outputs.map((output, i) => resultOf(output, handles[i] ?? 0));
    return (Array.isArray(raw) ? results : results[0]) as Output;
  } finally {
    native.release(node);
  }
}

// The result in place of what forward returned.
function resultOf(output: unknown, handle: number): unknown {
  if (handle === 0) return output;
  return handle === -1 ? output : new Tensor(handle);
}

function handlesOf(values: readonly unknown[]): number[] {
  return values.map((value) => (value instanceof Tensor ? handleOf(value) : 0));
}

function writeWords(words: readonly number[]): void {
  frameOf(words.length).set(words);
}

function gradientHandles(name: string, result: unknown): number[] {
  const grads: readonly unknown[] = Array.isArray(result) ? result : [result];
  return grads.map((grad, i) => {
    if (grad === null || grad === undefined) return 0;
    if (grad instanceof Tensor) return handleOf(grad);
    return fail(
      "InvalidGradient",
      name,
      `function ${name}Backward returned an invalid gradient at index ${i}: expected Variable or None ` +
        `(got ${describe(grad)})`,
    );
  });
}
