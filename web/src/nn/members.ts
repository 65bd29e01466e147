// What a module consists of, read off its properties: a Parameter is learned, a Buffer is state that
// is not learned, a Module is a part. Anything else is the module's own business.
//
// JavaScript does not say when a property is assigned. So what each name holds is noted when the module
// is looked at, and compared when it is looked at again: a name that held a parameter and now holds a
// plain tensor would silently not be trained any more. What a constructor assigned is noted before there
// is a first look, when the next tensor is made.

import { isPlainObject } from "../arguments/read.js";
import { describe, fail } from "../runtime/errors.js";
import { beforeNextWrapper } from "../tensor/lifetime.js";
import { attempt } from "../tensor/reachable.js";
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
  // What the names of members held at the last look; null before the first one.
  #names: readonly string[] | null = null;
  #values: readonly unknown[] = [];
  // Also of names that were set to null, which a member of their kind may take again.
  #kinds = new Map<string, Kind>();
  readonly #owner: Module;
  readonly #kindOf: (value: unknown) => Kind | undefined;

  /** `kindOf` tells members from other values; their classes import this file, so it knows them by type only. */
  constructor(owner: Module, kindOf: (value: unknown) => Kind | undefined) {
    this.#owner = owner;
    this.#kindOf = kindOf;
    if (newborn.length === 0) queueMicrotask(forgetNewborn);
    if (newborn.push(this) > kMaxNewborn) newborn.shift();
    beforeNextWrapper(place);
  }

  /** Looks at the module if a name holds something else than at the last look. */
  check(): void {
    if (this.#hasChanged()) this.look();
  }

  /** Notes what the module's properties hold, and fails when a member's name holds none any more. */
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
    for (const [name, value] of others) attempt(() => this.#warnOfHidden(name, value));
  }

  /** Returns a function that says whether the members are those of now. */
  comparison(): () => boolean {
    const names = this.#names ?? [];
    const values = this.#values;
    const properties = propertiesOf(this.#owner);
    const count = Object.keys(properties).length;
    return () => {
      if (!names.every((name, i) => properties[name] === values[i])) return false;
      if (Object.keys(properties).length === count) return true;
      this.look();
      return this.#names?.length === names.length;
    };
  }

  /** Returns the members of a kind by name, in the order of the properties; as of the last look. */
  of<K extends Kind>(kind: K): [string, Kinds[K]][] {
    const found: [string, Kinds[K]][] = [];
    this.#names?.forEach((name, i) => {
      const value = this.#values[i];
      if (this.#kindOf(value) === kind) found.push([name, value as Kinds[K]]);
    });
    return found;
  }

  /** Notes what members there are by now; returns whether `wanted` is one. */
  note(wanted: Tensor | null): boolean {
    let isFound = false;
    for (const [name, value] of entriesOf(this.#owner)) {
      const kind = this.#kindOf(value);
      if (kind !== undefined && !this.#kinds.has(name)) this.#kinds.set(name, kind);
      isFound ||= value === wanted;
    }
    return isFound;
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

  // As PyTorch: null is allowed, and a parameter may take any name.
  #checkSuccessor(name: string, before: Kind, kind: Kind | undefined, value: unknown): void {
    const isAllowed = kind === before || kind === "parameter" || value === null;
    if (isAllowed || value === undefined || (before === "buffer" && kind === "module")) return;
    const expected = kExpected[before];
    const got = kind === undefined ? describeOther(value) : `an ${kExpected[kind]}`;
    const advice =
      before === "module"
        ? ""
        : `: write noGrad(() => module.${name}.copy_(value)) to change its values, ` +
          `module.${name} = new ${expected}(value) for another one`;
    fail(
      "InvalidArgument",
      this.#owner.constructor.name,
      `cannot assign ${got} as ${before} '${name}' (${expected} or null expected)${advice}.`,
    );
  }

  // Modules and parameters in an array or the like, which nothing finds there.
  #warnOfHidden(name: string, holder: object): void {
    const hidden = this.#hiddenIn(holder, kMaxDepth);
    if (hidden === undefined || !isFirstAt(this.#owner.constructor, name)) return;
    const advice =
      this.#kindOf(hidden) === "module"
        ? `${describe(hidden)}, whose parameters are not found there: use new nn.ModuleList([...])`
        : "a parameter, which is not found there: make it a property of the module";
    console.warn(`edgegrad: [${this.#owner.constructor.name}] ${name} contains ${advice}.`);
  }

  // The first module or parameter in a holder of such that is not among the known ones.
  #hiddenIn(holder: unknown, depth: number): unknown {
    for (const one of elementsOf(holder)) {
      if (this.#isTrained(one) && !this.#values.includes(one)) return one;
      const deeper = depth > 1 ? this.#hiddenIn(one, depth - 1) : undefined;
      if (deeper !== undefined) return deeper;
    }
    return undefined;
  }

  #isTrained(value: unknown): boolean {
    const kind = this.#kindOf(value);
    return kind === "module" || kind === "parameter";
  }
}

// The last modules that were made in this turn of the event loop, one of which a new parameter is for.
let newborn: Members[] = [];
const kMaxNewborn = 100;
/** How many of them are looked at in any case: they may have been given what was made before. */
const kUnfinished = 4;

// The last parameter or buffer that was made, until it is known where it was assigned.
let unplaced: Tensor | null = null;

/** Notes where a new parameter or buffer is assigned, when the next tensor is made. */
export function awaitPlace(member: Tensor): void {
  if (newborn.length === 0) return;
  unplaced = member;
  beforeNextWrapper(place);
}

function place(): void {
  let isPlaced = unplaced === null;
  for (let i = 1; i <= newborn.length && (i <= kUnfinished || !isPlaced); i++) {
    if (newborn.at(-i)?.note(unplaced)) isPlaced = true;
  }
  unplaced = null;
}

function forgetNewborn(): void {
  place();
  newborn = [];
}

/** Returns the properties of a module. What a getter that throws would give is nothing of the module's. */
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

/** Where modules may hide: at the front, since what holds many things holds them all alike. */
const kLookedAt = 16;
const kMaxDepth = 3;

function elementsOf(holder: unknown): unknown[] {
  if (Array.isArray(holder)) return holder.slice(0, kLookedAt);
  if (holder instanceof Map || holder instanceof Set) {
    return [...holder.values()].slice(0, kLookedAt);
  }
  return isPlainObject(holder) ? Object.values(holder).slice(0, kLookedAt) : [];
}

// The names of each class that were warned of.
const warnedOf = new WeakMap<object, Set<string>>();

function isFirstAt(owner: object, name: string): boolean {
  const names = warnedOf.get(owner) ?? new Set();
  warnedOf.set(owner, names);
  return !names.has(name) && names.add(name) !== undefined;
}
