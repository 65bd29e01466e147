// eg.scope() and eg.keep(): freeing the tensors of a piece of code at its end.

import { functionOf } from "../arguments/rule.js";
import { entrust, leaveToFinalizer, release } from "./lifetime.js";
import { attempt, wrappersIn } from "./reachable.js";
import { addWaiting, currentScope, removeWaiting, runInScope, Scope } from "./scope_stack.js";

const kFunction = functionOf<() => unknown>();

/**
 * Runs `fn` and frees every tensor made in it, except those it returns (also in nested arrays,
 * objects and modules) and those given to keep(). `fn` may be async; scopes nest.
 */
export function scope<T>(fn: () => T): T {
  kFunction.check("scope", "fn", fn);
  const scope = new Scope(currentScope());
  let result: T;
  let promise: Promise<unknown> | null;
  try {
    [result, promise] = runInScope(scope, () => {
      const made = fn();
      return [made, promiseOf(made)];
    });
  } catch (error) {
    close(scope, undefined);
    throw error;
  }
  if (promise === null) {
    close(scope, result);
    return result;
  }
  addWaiting(scope);
  // The program may have given its promise another then().
  const closed = Promise.prototype.then.call(
    promise,
    (value: unknown) => {
      removeWaiting(scope);
      close(scope, value);
      return value;
    },
    (error: unknown) => {
      removeWaiting(scope);
      close(scope, undefined);
      throw error;
    },
  );
  // The promise of the caller's type, settled after the tensors are freed.
  return closed as T;
}

/** Takes tensors, also in nested arrays and objects, out of all scopes; returns its argument. */
export function keep<T>(value: T): T {
  for (const wrapper of wrappersIn(value)) wrapper.isKept = true;
  return value;
}

/** True for a promise or anything else that can be awaited. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

// The promise of what can be awaited. Not by its class, for a proxy may refuse to tell it.
function promiseOf(value: unknown): Promise<unknown> | null {
  return attempt(() => (isPromise(value) ? Promise.resolve(value) : null)) ?? null;
}

function close(scope: Scope, result: unknown): void {
  // First of all, for the search may call getters that make tensors.
  scope.isOpen = false;
  const returned = wrappersIn(result);
  const outer = scope.parent;
  for (const wrapper of scope.wrappers) {
    if (wrapper.disposed) continue;
    if (wrapper.isKept || scope.isShared) leaveToFinalizer(wrapper);
    else if (!returned.has(wrapper)) release(wrapper);
    else entrust(wrapper, outer);
  }
  // Code that goes on may hold the scope for as long as it runs.
  scope.wrappers.length = 0;
}

/**
 * Tensors that are made ahead, for code that will ask for them and has not yet. Until then they are the garbage
 * collector's: that code may never ask.
 */
export class DeferredScope {
  readonly #scope = new Scope(null, false);

  /** Runs `fn`, whose tensors become part of the deferred. */
  fill<T>(fn: () => T): T {
    return runInScope(this.#scope, fn);
  }

  /** Leaves the tensors to the scope of the running code, as if it had made them. */
  deliver(): void {
    this.#scope.isOpen = false;
    const receiver = currentScope();
    for (const wrapper of this.#scope.wrappers) {
      if (!wrapper.disposed) receiver?.add(wrapper);
    }
    this.#scope.wrappers.length = 0;
  }
}

/** Frees all tensors in a value that nobody else has. */
export function disposeAll(value: unknown): void {
  for (const wrapper of wrappersIn(value)) release(wrapper);
}
