// eg.func.interceptOps(): running a function with every call of an op in it passed to a handler.

import { readOptions } from "../arguments/read.js";
import { functionOf, type Options } from "../arguments/rule.js";
import {
  type Function as AutogradFunction,
  applyFunction,
  type FunctionClass,
  hasJvp,
} from "../autograd/function.js";
import { callInPlace, callOp } from "../dispatch/call.js";
import { type Interpreter, outermost, outermostBy } from "../dispatch/interpreter.js";
import type { Op } from "../dispatch/signature.js";
import { empty } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors.js";
import { isPromise } from "../runtime/promise.js";
import { readsObservedBy } from "../tensor/elements.js";
import { Tensor } from "../tensor/tensor.js";
import { currentLevel } from "./levels.js";

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

const kName = "interceptOps";
const kFunction = functionOf<(...args: never[]) => unknown>();

const kOptions = {
  /** Called with every tensor whose elements `fn` reads into JavaScript by `item()`, `dataSync()` and similar methods. */
  onRead: functionOf<(tensor: Tensor) => void>().orNull(),
};

/** Options of `interceptOps`. */
export type InterceptOptions = Options<typeof kOptions>;

/**
 * Runs `fn` and passes every call of an op in it to `handler`, which returns the result of the call: `(call) => call.run()`
 * changes nothing. Methods, operators of layers and functions composed of ops are calls too, the latter with their parts inside
 * `run()`. Calls that the handler itself makes are not intercepted, nor are those of the engine in backward.
 */
export function interceptOps<T>(
  fn: () => T,
  handler: OpHandler,
  ...rest: [options?: InterceptOptions]
): T {
  const { onRead } = readOptions(kName, kOptions, rest);
  kFunction.check(kName, "fn", fn);
  kFunction.check(kName, "handler", handler);
  if (currentLevel() !== null) {
    fail(
      "InvalidArgument",
      kName,
      "it cannot run inside vmap(). Call vmap() in its function instead.",
    );
  }
  const interceptor = new OpInterceptor(handler, onRead);
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
    kName,
    "the function returned a promise: only synchronous functions can be intercepted.",
  );
}

class OpInterceptor implements Interpreter {
  /** False when the function has ended; what a checkpoint computes again later is no call of the function. */
  isOpen = true;
  readonly #outer = outermost;
  readonly #handler: OpHandler;
  readonly #onRead: InterceptOptions["onRead"];

  constructor(handler: OpHandler, onRead: InterceptOptions["onRead"]) {
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
      run: () =>
        readsObservedBy(this.#onRead ?? null, () => outermostBy(this, compute)) as OpResult,
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
    const isResult = [result].flat().every((one) => one instanceof Tensor);
    if (!isResult) {
      fail(
        "InvalidArgument",
        kName,
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
