// Runs a function with the calls of ops in it passed to a handler: eg.func.interceptOps(), and what changes calls in autograd.

import { callInPlace, callOp } from "../dispatch/call.js";
import { type Interpreter, interpreter, outermost, outermostBy } from "../dispatch/interpreter.js";
import type { Op } from "../dispatch/signature.js";
import { empty } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";
import { readsObservedBy } from "../tensor/elements.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type Function as AutogradFunction,
  applyFunction,
  type FunctionClass,
  hasJvp,
} from "./function.js";

/** The result of a call: one tensor, or several. */
export type OpResult = Tensor | readonly Tensor[];

/** A call of an op that `interceptOps` passes to its handler. */
export interface OpCall {
  /** The name of the op as a function: "add", "add_" for its in-place form. "alias" is a tensor that shares another's values. */
  readonly op: string;
  /** The values of all parameters by name, with the defaults of those that were left out. */
  // biome-ignore lint/suspicious/noExplicitAny: the kinds of values depend on the op.
  readonly values: Readonly<Record<string, any>>;
  /** True for a function that is composed of ops, such as `conv3d`: its calls are intercepted too, while `run` runs. */
  readonly isComposite: boolean;
  /** The tensor that the call changes in place, or null. */
  readonly changes: Tensor | null;
  /** Runs the call and returns its result. */
  run(): OpResult;
}

/** Handles a call of an op: returns its result, which is that of `call.run()` or another one. */
export type OpHandler = (call: OpCall) => OpResult;

/** Called with tensors whose elements are read into JavaScript. */
export type ReadObserver = (tensor: Tensor) => void;

/** Runs `fn` with the calls of ops in it passed to `handler`; `name` is that of the caller, for errors. */
export function interceptedBy<T>(
  name: string,
  handler: OpHandler,
  fn: () => T,
  onRead: ReadObserver | null = null,
): T {
  if (interpreter !== null && interpreter !== outermost) {
    fail(
      "InvalidArgument",
      name,
      "it cannot run inside vmap(). Call vmap() in its function instead.",
    );
  }
  const interceptor = new OpInterceptor(name, handler, onRead);
  let result: T;
  try {
    result = readsObservedBy(onRead, () => outermostBy(interceptor, fn));
  } finally {
    interceptor.isOpen = false;
  }
  if (!isPromise(result)) return result;
  result.then(undefined, () => undefined);
  return fail(
    "InvalidArgument",
    name,
    "the function returned a promise: only synchronous functions can be intercepted.",
  );
}

class OpInterceptor implements Interpreter {
  /** False when the function has ended; what a checkpoint computes again later is not part of its call. */
  isOpen = true;
  readonly #outer = outermost;
  readonly #handler: OpHandler;
  readonly #onRead: ReadObserver | null;
  readonly #name: string;

  constructor(name: string, handler: OpHandler, onRead: ReadObserver | null) {
    this.#name = name;
    this.#handler = handler;
    this.#onRead = onRead;
  }

  call(op: Op, values: readonly unknown[], flags: number | null): unknown {
    const run = () => (flags === null ? callOp(op, values) : callInPlace(op, values, flags));
    const changes = flags === null ? null : (values[0] as Tensor);
    return this.#handle({
      op: op.name,
      values: byName(op, values),
      isComposite: false,
      changes,
      run: () => outermostBy(this.#outer, run) as OpResult,
    });
  }

  composite(op: Op, values: readonly unknown[], compute: () => unknown): unknown {
    return this.#handle({
      op: op.name,
      values: byName(op, values),
      isComposite: true,
      changes: null,
      run: () => readsObservedBy(this.#onRead, () => outermostBy(this, compute)) as OpResult,
    });
  }

  apply(fn: unknown, args: readonly unknown[]): unknown {
    const { name, onceDifferentiable = false } = fn as FunctionClass<unknown[], unknown>;
    let outputs: unknown;
    const observed: FunctionClass<unknown[], unknown> = {
      name,
      onceDifferentiable,
      forward: (ctx, ...given) => {
        outputs = (fn as FunctionClass<unknown[], unknown>).forward(ctx, ...given);
        return outputs;
      },
      backward: (ctx, ...grads) =>
        (fn as FunctionClass<unknown[], unknown>).backward(ctx, ...grads),
    };
    if (hasJvp(fn as object)) {
      observed.jvp = (ctx, ...tangents) =>
        (fn as typeof AutogradFunction).jvp(ctx, ...(tangents as never[]));
    }
    const result = applyFunction(observed, [...args]);
    const results = [result].flat();
    for (const [i, output] of [outputs].flat().entries()) {
      const made = results[i];
      if (output instanceof Tensor && made instanceof Tensor && made !== output) {
        this.aliased(output, made);
      }
    }
    return result;
  }

  aliased(tensor: Tensor, alias: Tensor): void {
    const values = { input: tensor };
    this.#handle({ op: "alias", values, isComposite: false, changes: null, run: () => alias });
  }

  hooked(tensor: Tensor, hook: (grad: Tensor) => unknown) {
    return { owner: tensor, hook: hook as (grad: Tensor | null) => unknown };
  }

  physical(tensor: Tensor): Tensor {
    return tensor;
  }

  emptyToDraw(shape: readonly number[], { dtype, device }: Tensor): Tensor {
    return empty(shape, { dtype, device });
  }

  #handle(call: OpCall): OpResult {
    if (!this.isOpen) return call.run();
    const handled = () => outermostBy(this.#outer, () => this.#handler(call));
    const result: unknown = readsObservedBy(null, handled);
    const isResult = [result].flat().every((item) => item instanceof Tensor);
    if (!isResult) {
      fail(
        "InvalidArgument",
        this.#name,
        `the handler must return the result of the call (${call.op}), as call.run() does, got ${describe(result)}.`,
      );
    }
    return result as OpResult;
  }
}

function byName(op: Op, values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(
    op.parameters.map(({ name, defaultValue }, i) => [
      name,
      i < values.length ? values[i] : defaultValue,
    ]),
  );
}
