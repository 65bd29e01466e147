// eg.scope() and eg.keep(): freeing the tensors of a piece of code at its end.

import { functionOf } from "../arguments/rule.js";
import { isWrapper, leaveToFinalizer, release, type Wrapper } from "./lifetime.js";
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
  try {
    result = runInScope(scope, fn);
  } catch (error) {
    close(scope, undefined);
    throw error;
  }
  if (!isPromise(result)) {
    close(scope, result);
    return result;
  }
  addWaiting(scope);
  const closed = result.then(
    (value) => {
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

function close(scope: Scope, result: unknown): void {
  const returned = wrappersIn(result);
  for (const wrapper of scope.wrappers) {
    if (wrapper.disposed) continue;
    if (wrapper.isKept || scope.isShared) leaveToFinalizer(wrapper);
    else if (!returned.has(wrapper)) release(wrapper);
    else if (scope.parent === null) leaveToFinalizer(wrapper);
    else scope.parent.add(wrapper);
  }
}

// The tensors and nodes reachable from a value through properties, elements and entries.
function wrappersIn(root: unknown): Set<Wrapper> {
  const wrappers = new Set<Wrapper>();
  const seen = new Set<object>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (isWrapper(value)) {
      if (wrappers.has(value)) continue;
      wrappers.add(value);
      pending.push(value.inner);
    } else if (isContainer(value) && !seen.has(value)) {
      seen.add(value);
      if (value instanceof Map) pending.push(...value.keys(), ...value.values());
      else if (value instanceof Set) pending.push(...value);
      for (const inner of Object.values(value)) pending.push(inner);
    }
  }
  return wrappers;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}
