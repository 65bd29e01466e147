// eg.autograd.Function: an operation whose forward and backward are written in JavaScript.

import { boolean } from "../arguments/rule.js";
import { interpretedBy, interpreter } from "../dispatch/interpreter.js";
import { callFrame, checkedFor, frameOf, native, takeWords } from "../runtime/bridge/bridge.js";
import { holdFunction } from "../runtime/bridge/callbacks.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { encodeUtf8 } from "../runtime/host/utf8.js";
import { handleOf } from "../tensor/info.js";
import { knownTensor, Tensor, takeTensor } from "../tensor/tensor.js";
import { noGrad } from "./grad_mode.js";

/** The context that forward and backward of one call share. Programs may add any properties to it. */
export class FunctionContext {
  // biome-ignore lint/suspicious/noExplicitAny: users may store values of any type here.
  [property: string]: any;

  readonly #id: number;
  readonly #argumentCount: number;

  /** `id` is the number of the node's backward function. @internal */
  constructor(id: number, argumentCount: number) {
    this.#id = id;
    this.#argumentCount = argumentCount;
  }

  /** Saves arguments or results of forward for backward. Store any other values as properties of the context. */
  saveForBackward(...tensors: (Tensor | null)[]): void {
    writeWords(handlesOf(tensors));
    checkedFor("saveForBackward", native.saveForBackward(this.#id, tensors.length));
  }

  /** Saves arguments or results of forward for jvp, where `savedTensors` has them. */
  saveForForward(...tensors: (Tensor | null)[]): void {
    writeWords(handlesOf(tensors));
    checkedFor("saveForForward", native.saveForForward(this.#id, tensors.length));
  }

  /** The tensors saved by saveForBackward(), and inside jvp those saved by saveForForward(). */
  get savedTensors(): Tensor[] {
    const count = checkedFor("savedTensors", native.savedTensors(this.#id));
    // The public type omits null because it is rare.
    return takeWords(count).map(knownTensor) as Tensor[];
  }

  /** Marks arguments that forward has changed in place; forward must also return them. */
  markDirty(...tensors: Tensor[]): void {
    writeWords(handlesOf(tensors));
    checkedFor("markDirty", native.markDirty(this.#id, tensors.length));
  }

  /** Marks results as having no gradient. */
  markNonDifferentiable(...tensors: Tensor[]): void {
    writeWords(handlesOf(tensors));
    checkedFor("markNonDifferentiable", native.markNonDifferentiable(this.#id, tensors.length));
  }

  /** Sets whether backward and jvp receive zeros (the default) or null for results without a gradient, or arguments without a tangent. */
  setMaterializeGrads(value: boolean): void {
    boolean.check("setMaterializeGrads", "value", value);
    checkedFor("setMaterializeGrads", native.setMaterializeGrads(this.#id, value));
  }

  /** For every argument of forward, whether its gradient is needed. */
  get needsInputGrad(): boolean[] {
    return Array.from(
      { length: this.#argumentCount },
      (_, i) => checkedFor("needsInputGrad", native.needsInputGrad(this.#id, i)) !== 0,
    );
  }
}

/** The result of backward: a gradient per argument of forward, null for arguments without one. */
export type FunctionGradients =
  | Tensor
  | null
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a backward without a result returns nothing.
  | void
  | readonly (Tensor | null | undefined)[];

/** Information about the surrounding call of vmap(), for the static method `vmap` of a Function. */
export interface VmapInfo {
  /** The number of samples in the batch. */
  readonly batchSize: number;
  /** How random operations behave: throw, draw different numbers for each sample, or draw the same ones. */
  readonly randomness: "error" | "different" | "same";
}

/** A class with the static methods of an operation. */
export interface FunctionClass<Args extends unknown[], Output> {
  readonly name: string;
  readonly onceDifferentiable?: boolean;
  forward(ctx: FunctionContext, ...args: Args): Output;
  backward(ctx: FunctionContext, ...grads: Tensor[]): FunctionGradients;
  jvp?(ctx: FunctionContext, ...tangents: Tensor[]): FunctionGradients;
}

/**
 * An operation with a custom gradient. A subclass defines `forward` and `backward` as static methods and is
 * called through its static method `apply`.
 */
// biome-ignore lint/suspicious/noShadowRestrictedNames: PyTorch's name.
// biome-ignore lint/complexity/noStaticOnlyClass: the class is meant to be extended.
export abstract class Function {
  /** True if backward cannot itself be differentiated. */
  static readonly onceDifferentiable?: boolean;

  /** Computes the results. Operations inside are not recorded. */
  static forward(_ctx: FunctionContext, ..._args: never[]): unknown {
    fail(
      "InvalidArgument",
      "Function",
      "the class has no static method forward: define it to compute the results.",
    );
  }

  /** Receives a gradient per result and returns one per argument of forward. */
  static backward(_ctx: FunctionContext, ..._grads: never[]): FunctionGradients {
    fail(
      "NotDifferentiable",
      "Function",
      "the class has no static method backward: define it to compute gradients.",
    );
  }

  /**
   * Computes tangents in forward mode: receives one per argument of forward, null for arguments that are not tensors, and returns one
   * per result, null for a result without one. It is called right after forward, with the same context. For a result that is a view
   * of an argument, or the argument itself, it returns the same view of that argument's tangent (`tangent.viewAs(tangent)`); if
   * forward changes an argument in place (`ctx.markDirty()`), it changes the tangent in place and returns it.
   */
  static jvp(_ctx: FunctionContext, ..._tangents: never[]): FunctionGradients {
    fail(
      "NotDifferentiable",
      "Function",
      "the class has no static method jvp: define it to compute tangents in forward mode.",
    );
  }

  /** True if vmap() should derive its rule from forward and backward, which may then only use operations that vmap() supports. */
  static readonly generateVmapRule?: boolean;

  /**
   * Computes a whole batch inside `eg.func.vmap`. `inDims` has for every argument its batch dimension, or null for an argument
   * without one. Returns [output, outDims], where `outDims` is the batch dimension of the output, or an array of them.
   */
  static vmap(_info: VmapInfo, _inDims: readonly (number | null)[], ..._args: never[]): unknown {
    return fail("InvalidArgument", "Function", "the class has no static method vmap.");
  }

  /** Runs forward and records the operation. */
  static apply<Args extends unknown[], Output>(
    this: FunctionClass<Args, Output>,
    ...args: Args
  ): Output {
    if (interpreter !== null) {
      // biome-ignore lint/complexity/noThisInStatic: `this` is the subclass.
      return interpreter.apply(this, args) as Output;
    }
    // biome-ignore lint/complexity/noThisInStatic: as above.
    return applyFunction(this, args);
  }
}

type AnyFunction = FunctionClass<unknown[], unknown>;

/** Returns the Function that is applied instead of one with a jvp; null for itself. */
export let instead: ((fn: AnyFunction) => AnyFunction) | null = null;

/** Runs `work` with Functions that have a jvp replaced by `replace`, or with none replaced if it is null. */
export function replacingJvps<T>(replace: typeof instead, work: () => T): T {
  const before = instead;
  instead = replace;
  try {
    return work();
  } finally {
    instead = before;
  }
}

/** Runs `fn` in the engine and records the operation. */
export function applyFunction<Args extends unknown[], Output>(
  given: FunctionClass<Args, Output>,
  args: Args,
): Output {
  const isReplaced = instead !== null && hasJvp(given);
  const fn = isReplaced ? (instead?.(given as AnyFunction) as typeof given) : given;
  const name = fn.name || "Function";
  const argumentHandles = handlesOf(args);
  const backward = (words: readonly number[]) =>
    // Tensors from the engine are never batches, even if backward runs inside vmap().
    interpretedBy(null, () =>
      tensorHandles(
        name,
        "backward",
        "argument",
        fn.backward(ctx, ...(words.map(takeTensor) as Tensor[])),
      ),
    );
  const callback = holdFunction(backward, name);
  const ctx = new FunctionContext(callback, args.length);
  const nameBytes = encodeUtf8(name);
  writeWords([...argumentHandles, ...nameBytes]);
  const isOnce = fn.onceDifferentiable === true ? 1 : 0;
  const flags = hasJvp(fn) ? isOnce + 2 : isOnce;
  const words = [callback, args.length, nameBytes.length, flags] as const;
  const node = checkedFor(name, native.beginFunction(...words));
  try {
    const hasTangents = callFrame()[0] !== 0;
    const forward = () => fn.forward(ctx, ...args);
    const raw = noGrad(hasTangents ? () => withJvp(name, fn, ctx, callback, forward) : forward);
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

/** True if a Function defines jvp. */
export function hasJvp(fn: { readonly jvp?: unknown }): boolean {
  return fn.jvp !== undefined && fn.jvp !== Function.jvp;
}

// Runs forward outside the dual level, and passes the function that computes tangents to the engine.
function withJvp<T>(
  name: string,
  fn: Pick<FunctionClass<never[], unknown>, "jvp">,
  ctx: FunctionContext,
  callback: number,
  forward: () => T,
): T {
  const jvp = (words: readonly number[]) =>
    interpretedBy(null, () =>
      tensorHandles(name, "jvp", "result", fn.jvp?.(ctx, ...(words.map(takeTensor) as Tensor[]))),
    );
  checkedFor(name, native.setFunctionJvp(callback, holdFunction(jvp, name)));
  checkedFor(name, native.hideDualLevel());
  try {
    return forward();
  } finally {
    native.showDualLevel();
  }
}

// Returns the result for a value that forward returned.
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

function tensorHandles(name: string, method: string, of: string, result: unknown): number[] {
  const tensors: readonly unknown[] = Array.isArray(result) ? result : [result];
  return tensors.map((tensor, i) => {
    if (tensor === null || tensor === undefined) return 0;
    if (tensor instanceof Tensor) return handleOf(tensor);
    return fail(
      "InvalidGradient",
      name,
      `${method} must return a tensor or null for ${of} ${i}, got ${describe(tensor)}.`,
    );
  });
}
