// eg.scope() frees the tensors made by a function when it ends; eg.keep() exempts tensors from that.

import { functionOf } from "../arguments/rule.js";
import { reserveStack } from "../runtime/bridge/bridge.js";
import { isPromise } from "../runtime/host/promise.js";
import { addToScope, leaveToFinalizer, release } from "./lifetime.js";
import { attempt, wrappersIn } from "./reachable.js";
import { addWaiting, currentScope, removeWaiting, runInScope, Scope } from "./scope_stack.js";

const kFunction = functionOf<() => unknown>();

/**
 * Runs `fn` and frees every tensor made in it, except those it returns (also in nested arrays,
 * objects and modules) and those given to keep(). `fn` may be async; scopes nest.
 */
export function userScope<T>(fn: () => T): T {
  kFunction.check("scope", "fn", fn);
  return runAndClose(new Scope(currentScope(), { isOfProgram: true }), fn);
}

/** userScope() for the package's own functions. */
export function scope<T>(fn: () => T): T {
  return runAndClose(new Scope(currentScope()), fn);
}

function runAndClose<T>(scope: Scope, fn: () => T): T {
  reserveStack();
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
  // The program may have overridden then() of its promise.
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
  // Settles after the tensors are freed; the type is that of the caller's promise.
  return closed as T;
}

/** Keeps the tensors in a value, also in nested arrays and objects, alive when scopes end; returns its argument. */
export function keep<T>(value: T): T {
  for (const wrapper of wrappersIn(value)) wrapper.isKept = true;
  return value;
}

// Returns a promise for a value that can be awaited. Does not use instanceof: a proxy may throw when asked for its prototype.
function promiseOf(value: unknown): Promise<unknown> | null {
  return attempt(() => (isPromise(value) ? Promise.resolve(value) : null)) ?? null;
}

function close(scope: Scope, result: unknown): void {
  // This comes first because the search may call getters that make tensors.
  scope.isOpen = false;
  const returned = wrappersIn(result);
  const outer = scope.parent;
  for (const wrapper of scope.wrappers) {
    if (wrapper.disposed) continue;
    if (wrapper.isKept || scope.isShared) leaveToFinalizer(wrapper);
    else if (!returned.has(wrapper)) release(wrapper);
    else addToScope(wrapper, outer);
  }
  // Code that is still running may hold a reference to the scope.
  scope.wrappers.length = 0;
}

/**
 * Tensors that are made ahead of the code that will ask for them. Until deliver(), they are left to the garbage
 * collector because that code may never ask.
 */
export class DeferredScope {
  readonly #scope = new Scope(null, { frees: false });

  /** Runs `fn`, and collects the tensors that it makes. */
  fill<T>(fn: () => T): T {
    return runInScope(this.#scope, fn);
  }

  /** Adds the tensors to the scope of the running code, as if that code had made them. */
  deliver(): void {
    this.#scope.isOpen = false;
    const receiver = currentScope();
    for (const wrapper of this.#scope.wrappers) {
      if (!wrapper.disposed) receiver?.add(wrapper);
    }
    this.#scope.wrappers.length = 0;
  }
}

/** Frees all tensors in a value; no other code may use them. */
export function disposeAll(value: unknown): void {
  for (const wrapper of wrappersIn(value)) release(wrapper);
}
