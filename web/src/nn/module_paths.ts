// Members of modules by their dotted names.

import { text } from "../arguments/rule.js";
import { fail } from "../runtime/errors/errors.js";
import type { Kind, Kinds } from "./members.js";
import type { Module } from "./module.js";

const kNames: Readonly<Record<Kind, string>> = {
  module: "an nn.Module",
  parameter: "an nn.Parameter",
  buffer: "a buffer",
};

/** Returns the member of a kind with a dotted path, whose last part is the name of the member. */
export function memberAt<K extends Kind>(
  where: string,
  root: Module,
  target: string,
  kind: K,
  kindOf: (value: unknown) => Kind | undefined,
): Kinds[K] {
  const path = text.check(where, "target", target).split(".");
  let value: unknown = root;
  path.forEach((name, i) => {
    const owner = value as Module;
    const wanted = i < path.length - 1 ? "module" : kind;
    if (!Object.hasOwn(owner, name)) {
      fail("InvalidArgument", where, `${owner.constructor.name} has no property "${name}".`);
    }
    value = Reflect.get(owner, name);
    if (kindOf(value) === wanted) return;
    fail("InvalidArgument", where, `"${name}" is not ${kNames[wanted]}.`);
  });
  return value as Kinds[K];
}

/** Returns the dotted name of a member under a prefix. */
export function joinPath(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

/** Returns the entries without values that came before: one that several names share counts under the first. */
export function withoutRepeats<T>(entries: readonly [string, T][]): [string, T][] {
  const seen = new Set<T>();
  return entries.filter(([, value]) => !seen.has(value) && seen.add(value));
}
