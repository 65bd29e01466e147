// Members of modules by their dotted names.

import { text } from "../arguments/rule.js";
import { fail } from "../runtime/errors.js";
import type { Kind, Kinds } from "./members.js";
import type { Module } from "./module.js";

const kNames: Readonly<Record<Kind, string>> = {
  module: "an nn.Module",
  parameter: "an nn.Parameter",
  buffer: "a buffer",
};

/** Returns the member of a kind under a dotted name, whose last part is its own. */
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
