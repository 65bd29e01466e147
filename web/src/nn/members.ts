// The members of a module, found among its properties: a Parameter is learned, a Buffer is state that is not learned, a
// Module is a part. Other properties are not trained, moved or saved.
//
// JavaScript does not report assignments to properties. So each use of a module (parameters(), call() and so on) records what
// each name holds and compares it with the use before: a name that held a parameter and now holds a plain tensor would silently
// no longer be trained. Before the first use, what a constructor assigned is recorded when the next tensor is made: a plain
// tensor that replaces a parameter is made after it.

import { isPlainObject } from "../arguments/read.js";
import { otherCopyOf } from "../runtime/errors/copy.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { queueMicrotask } from "../runtime/host/host.js";
import { isMap, isSet } from "../runtime/host/realm.js";
import { beforeNextWrapper } from "../tensor/lifetime.js";
import { attempt } from "../tensor/reachable.js";
import { keep } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import type { Module } from "./module.js";
import type { Buffer, Parameter } from "./parameter.js";

/** What a member is. */
export type Kind = "parameter" | "buffer" | "module";

/** The class of each kind of member. */
export interface Kinds {
  readonly parameter: Parameter;
  readonly buffer: Buffer;
  readonly module: Module;
}

const kExpected: Readonly<Record<Kind, string>> = {
  parameter: "nn.Parameter",
  buffer: "nn.Buffer",
  module: "nn.Module",
};

/** The parameters, buffers and parts of one module. */
export class Members {
  // The names of members at the last look; null before the first one.
  #names: readonly string[] | null = null;
  #values: readonly unknown[] = [];
  // Also has names that were set to null, which may hold a member of the same kind again.
  #kinds = new Map<string, Kind>();
  readonly #owner: Module;
  readonly #kindOf: (value: unknown) => Kind | undefined;

  /** `kindOf` recognizes members: their classes import this file, which therefore knows only their types. */
  constructor(owner: Module, kindOf: (value: unknown) => Kind | undefined) {
    this.#owner = owner;
    this.#kindOf = kindOf;
    if (recentModules.length === 0) queueMicrotask(forgetRecent);
    if (recentModules.push(this) > kMaxRecent) recentModules.shift();
    beforeNextWrapper(findOwner);
  }

  /** Looks at the module if a name holds another value than at the last look. */
  check(): void {
    if (this.#hasChanged()) this.look();
  }

  /** Records what the module's properties hold, and throws if the name of a member no longer holds one. */
  look(): void {
    const kinds = new Map<string, Kind>();
    const names: string[] = [];
    const values: unknown[] = [];
    const others: [string, object][] = [];
    for (const [name, value] of entriesOf(this.#owner)) {
      const kind = this.#kindOf(value);
      const before = this.#kinds.get(name);
      if (before !== undefined) this.#checkSuccessor(name, before, kind, value);
      const known = kind ?? before;
      if (known !== undefined) {
        kinds.set(name, known);
        names.push(name);
        values.push(value);
      } else if (typeof value === "object" && value !== null) {
        others.push([name, value]);
      }
    }
    this.#kinds = kinds;
    this.#names = names;
    this.#values = values;
    for (const [name, value] of others) {
      if (otherCopyOf(value) !== undefined) this.#refuse(name, value);
      attempt(() => this.#warnOfHidden(name, value));
    }
  }

  /** Returns a function that tells whether the members are still the same, except those that a call has replaced for now. */
  comparison(): () => boolean {
    const replaced = new Set(replacedNames.get(this.#owner));
    const names = this.#names ?? [];
    const values = this.#values;
    const kept = names.flatMap((name, i) =>
      replaced.has(name) ? [] : [[name, values[i]] as const],
    );
    const properties = propertiesOf(this.#owner);
    // While it is replaced, a member is not enumerable.
    const hidden = [...replaced].filter((name) => !names.includes(name)).length;
    const count = Object.keys(properties).length + hidden;
    return () => {
      if (!kept.every(([name, value]) => properties[name] === value)) return false;
      if (Object.keys(properties).length === count) return true;
      this.look();
      return this.#names?.length === names.length + hidden;
    };
  }

  /** Returns the members of a kind by name as of the last look, in the order of the properties. */
  of<K extends Kind>(kind: K): [string, Kinds[K]][] {
    const found: [string, Kinds[K]][] = [];
    this.#names?.forEach((name, i) => {
      const value = this.#values[i];
      if (this.#kindOf(value) === kind) found.push([name, value as Kinds[K]]);
    });
    return found;
  }

  /** Records the current members; returns whether `wanted` is one. */
  note(wanted: Tensor | null): boolean {
    let isFound = false;
    for (const [name, value] of entriesOf(this.#owner)) {
      const kind = this.#kindOf(value);
      if (kind !== undefined && !this.#kinds.has(name)) this.#kinds.set(name, kind);
      isFound ||= value === wanted;
    }
    return isFound;
  }

  /** Takes all members out of scopes: those that a call makes are needed by the next call, too. */
  keepAll(): void {
    for (const [, value] of entriesOf(this.#owner)) {
      if (this.#kindOf(value) !== undefined) keep(value);
    }
  }

  #hasChanged(): boolean {
    const names = this.#names;
    if (names === null) return true;
    const properties = propertiesOf(this.#owner);
    for (let i = 0; i < names.length; i++) {
      if (properties[names[i] as string] !== this.#values[i]) return true;
    }
    return false;
  }

  // As in PyTorch, null is allowed, and a parameter may replace anything.
  #checkSuccessor(name: string, before: Kind, kind: Kind | undefined, value: unknown): void {
    const isAllowed = kind === before || kind === "parameter" || value === null;
    if (isAllowed || value === undefined || (before === "buffer" && kind === "module")) return;
    const expected = kExpected[before];
    const got = kind === undefined ? describeOther(value) : `an ${kExpected[kind]}`;
    const advice =
      before === "module"
        ? ""
        : `: use noGrad(() => module.${name}.copy_(value)) to change its values, ` +
          `module.${name} = new ${expected}(value) to replace it`;
    fail(
      "InvalidArgument",
      this.#owner.constructor.name,
      `cannot assign ${got} as ${before} '${name}' (${expected} or null expected)${advice}.`,
    );
  }

  #refuse(name: string, value: object): never {
    const owner = this.#owner.constructor.name;
    fail(
      "InvalidArgument",
      owner,
      `${name}: expected a value of this copy, got ${describe(value)}.`,
    );
  }

  // Warns of modules and parameters in an array or the like, where they are not found.
  #warnOfHidden(name: string, holder: object): void {
    const hidden = this.#hiddenIn(holder, kMaxDepth);
    if (hidden === undefined || !isFirstAt(this.#owner.constructor, name)) return;
    const advice =
      this.#kindOf(hidden) === "module"
        ? `${describe(hidden)}, whose parameters are not found there: use new nn.ModuleList([...])`
        : "a parameter, which is not found there: make it a property of the module";
    console.warn(`edgegrad: [${this.#owner.constructor.name}] ${name} contains ${advice}.`);
  }

  // The first module or parameter in a container that is not a known member.
  #hiddenIn(holder: unknown, depth: number): unknown {
    for (const element of elementsOf(holder)) {
      if (this.#isTrained(element) && !this.#values.includes(element)) return element;
      const deeper = depth > 1 ? this.#hiddenIn(element, depth - 1) : undefined;
      if (deeper !== undefined) return deeper;
    }
    return undefined;
  }

  #isTrained(value: unknown): boolean {
    const kind = this.#kindOf(value);
    return kind === "module" || kind === "parameter";
  }
}

// The names of members that a call replaces while it runs, by module.
const replacedNames = new WeakMap<Module, Set<string>>();

/** Notes that a call replaces a member of a module, or that it has put it back. */
export function noteReplaced(owner: Module, name: string, isReplaced: boolean): void {
  const names = replacedNames.get(owner) ?? new Set();
  replacedNames.set(owner, names);
  if (isReplaced) names.add(name);
  else names.delete(name);
}

// The last modules that were made in this turn of the event loop: a new parameter will be assigned to one of them.
let recentModules: Members[] = [];
const kMaxRecent = 100;
/** How many of them are always looked at: they may have been assigned members that were made earlier. */
const kAlwaysSearched = 4;

// The last parameter or buffer that was made, until its module is known.
let unowned: Tensor | null = null;

/** How many parameters and buffers have been made. */
export let membersMade = 0;

/** Records, when the next tensor is made, which module a new parameter or buffer was assigned to. */
export function awaitOwner(member: Tensor): void {
  membersMade++;
  if (recentModules.length === 0) return;
  unowned = member;
  beforeNextWrapper(findOwner);
}

function findOwner(): void {
  let isFound = unowned === null;
  for (let i = 1; i <= recentModules.length && (i <= kAlwaysSearched || !isFound); i++) {
    if (recentModules.at(-i)?.note(unowned)) isFound = true;
  }
  unowned = null;
}

function forgetRecent(): void {
  findOwner();
  recentModules = [];
}

/** Returns the properties of a module; undefined for a getter that throws. */
export function entriesOf(module: Module): [string, unknown][] {
  const properties = propertiesOf(module);
  return Object.keys(module).map((name) => [name, attempt(() => properties[name])]);
}

function propertiesOf(module: Module): Record<string, unknown> {
  return module as unknown as Record<string, unknown>;
}

function describeOther(value: unknown): string {
  return value instanceof Tensor ? "a plain tensor" : describe(value);
}

/** How many elements of a container are searched: elements of a long one are usually alike. */
const kMaxSearched = 16;
const kMaxDepth = 3;

function elementsOf(holder: unknown): unknown[] {
  if (Array.isArray(holder)) return holder.slice(0, kMaxSearched);
  if (isMap(holder) || isSet(holder)) {
    return [...holder.values()].slice(0, kMaxSearched);
  }
  return isPlainObject(holder) ? Object.values(holder).slice(0, kMaxSearched) : [];
}

// The names that a warning was given for, by class.
const warnedOf = new WeakMap<object, Set<string>>();

function isFirstAt(owner: object, name: string): boolean {
  const names = warnedOf.get(owner) ?? new Set();
  warnedOf.set(owner, names);
  return !names.has(name) && names.add(name) !== undefined;
}
