// Which eg.scope() a new tensor belongs to.
//
// Among synchronous scopes it is the innermost one that is running. An asynchronous scope continues after
// its function has returned a promise, interleaved with other code; then the JavaScript engine's async context
// tells which scope the running code belongs to (AsyncLocalStorage in Node, AsyncContext where it exists).
// Where there is no async context, the asynchronous scope opened last is assumed to be the running one, and
// scopes that overlap leave their tensors to the garbage collector, since their owner cannot be determined.
//
// Code may continue after its scope has ended: a promise that was not awaited, the remaining promises of
// Promise.all() when one fails, a batch that was prefetched. It then belongs to the innermost enclosing scope
// that is still open or, if there is none, to no scope, which leaves its tensors to the garbage collector.
// The same holds for the results of a scope. So nothing is ever added to a scope that has ended.

import { processHere } from "../runtime/host/node.js";
import type { Wrapper } from "./wrapper.js";

/** The tensors and graph nodes made in one call of eg.scope(). */
export class Scope {
  readonly wrappers: Wrapper[] = [];
  /** True when the wrappers may include tensors of other code. */
  isShared = false;
  /** False when its tensors have been freed. */
  isOpen = true;
  /** The number of wrappers when those that are not disposed were counted last. */
  counted = 0;
  /** False for a DeferredScope. */
  readonly frees: boolean;
  /** True for a scope that the program opened, not one of the package's functions. */
  readonly isOfProgram: boolean;
  readonly #outer: Scope | null;

  /** `outer` was running when the scope was opened. */
  constructor(outer: Scope | null, { frees = true, isOfProgram = false } = {}) {
    this.#outer = outer;
    this.frees = frees;
    this.isOfProgram = isOfProgram;
  }

  /** The innermost scope around this one that is open. */
  get parent(): Scope | null {
    let scope = this.#outer;
    while (scope !== null && !scope.isOpen) scope = scope.#outer;
    return scope;
  }

  /** This scope or the innermost one around it that the program opened. */
  get ofProgram(): Scope | null {
    let scope: Scope | null = this;
    while (scope !== null && !scope.isOfProgram) scope = scope.parent;
    return scope;
  }

  add(wrapper: Wrapper): void {
    this.wrappers.push(wrapper);
  }

  /** True when `outer` was running when this scope was opened. */
  isWithin(outer: Scope): boolean {
    return this.#outer !== null && (this.#outer === outer || this.#outer.isWithin(outer));
  }
}

interface AsyncContext {
  run<T>(scope: Scope, fn: () => T): T;
  getStore(): Scope | undefined;
  /** Returns a function that runs others in the async context of this code. */
  capture(): <T>(fn: () => T) => T;
}

const context = findAsyncContext();

// The innermost scope whose function is on the call stack.
let running: Scope | null = null;
// Scopes whose promise is not settled yet, oldest first.
const waiting: Scope[] = [];

/** Returns the scope that the running code belongs to. */
export function currentScope(): Scope | null {
  if (running !== null || waiting.length === 0) return running;
  const scope = context === null ? waiting[waiting.length - 1] : context.getStore();
  return scope === undefined || scope.isOpen ? (scope ?? null) : scope.parent;
}

/** Returns all scopes that are open on this thread. */
export function openScopes(): Scope[] {
  const open = new Set<Scope>();
  for (const inner of running === null ? waiting : [...waiting, running]) {
    for (let scope: Scope | null = inner; scope !== null; scope = scope.parent) open.add(scope);
  }
  return [...open].filter(({ isOpen }) => isOpen);
}

/** Runs `fn` as the code of `scope`. */
export function runInScope<T>(scope: Scope, fn: () => T): T {
  const outer = running;
  running = scope;
  try {
    return context === null ? fn() : context.run(scope, fn);
  } finally {
    running = outer;
  }
}

/** Keeps a scope open after its function has returned a promise. */
export function addWaiting(scope: Scope): void {
  if (context === null) {
    for (const other of waiting) {
      if (other.isWithin(scope)) continue;
      other.isShared = true;
      scope.isShared = true;
    }
  }
  waiting.push(scope);
}

/** Ends the waiting that addWaiting() started. */
export function removeWaiting(scope: Scope): void {
  waiting.splice(waiting.indexOf(scope), 1);
  if (context !== null) return;
  // Inner scopes should have ended before this one; their tensors may belong to this scope.
  for (const other of waiting) if (other.isWithin(scope)) other.isShared = true;
}

/** Returns a function that runs others as if this code called them: in its scope, or in what is left of it, and in its async context. */
export function captureContext(): <T>(fn: () => T) => T {
  const scope = currentScope();
  const inAsyncContext = context?.capture() ?? ((fn) => fn());
  return (fn) => {
    const open = scope === null || scope.isOpen ? scope : scope.parent;
    return inAsyncContext(() => (open === null ? fn() : runInScope(open, fn)));
  };
}

function findAsyncContext(): AsyncContext | null {
  // An import would make bundlers for browsers look for the module.
  const node = processHere()?.getBuiltinModule?.("node:async_hooks");
  if (node !== undefined) return contextOf(node.AsyncLocalStorage as ScopeStorageClass);
  const { AsyncLocalStorage, AsyncContext } = globalThis as {
    /** In Vercel's edge runtime. */
    AsyncLocalStorage?: ScopeStorageClass;
    AsyncContext?: { Variable: new () => ScopeVariable; Snapshot: new () => Snapshot };
  };
  if (AsyncLocalStorage !== undefined) return contextOf(AsyncLocalStorage);
  if (AsyncContext === undefined) return null;
  const variable = new AsyncContext.Variable();
  return {
    run: (scope, fn) => variable.run(scope, fn),
    getStore: () => variable.get(),
    capture: () => {
      const snapshot = new AsyncContext.Snapshot();
      return (fn) => snapshot.run(fn);
    },
  };
}

function contextOf(Storage: ScopeStorageClass): AsyncContext {
  const storage = new Storage();
  return {
    run: (scope, fn) => storage.run(scope, fn),
    getStore: () => storage.getStore(),
    // The oldest versions cannot capture the contexts of other code.
    capture: () => {
      const scope = storage.getStore();
      return (
        Storage.snapshot?.() ?? ((fn) => (scope === undefined ? fn() : storage.run(scope, fn)))
      );
    },
  };
}

/** AsyncLocalStorage of Node. */
interface ScopeStorageClass {
  new (): { run<T>(scope: Scope, fn: () => T): T; getStore(): Scope | undefined };
  snapshot?(): <T>(fn: () => T) => T;
}

/** AsyncContext.Snapshot of the TC39 proposal. */
interface Snapshot {
  run<T>(fn: () => T): T;
}

/** AsyncContext.Variable of the TC39 proposal. */
interface ScopeVariable {
  run<T>(scope: Scope, fn: () => T): T;
  get(): Scope | undefined;
}
