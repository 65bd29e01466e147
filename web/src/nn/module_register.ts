// How Module.registerBuffer() and its like check a name before they assign to it.

import { Rule } from "../arguments/rule.js";
import { fail } from "../runtime/errors/errors.js";
import type { Module } from "./module.js";

/** A name that a member of a module can have. */
export const memberName = /* @__PURE__ */ new Rule<string>(
  'a text without "."',
  (value) => typeof value === "string" && value !== "" && !value.includes("."),
);

/** Assigns `value` to a property of a module; throws if the name is taken by something else than such a member. */
export function registerMember(
  where: string,
  module: Module,
  name: string,
  value: object | null,
  isMember: (value: unknown) => boolean,
): void {
  if (name in module) {
    const before: unknown = Reflect.get(module, name);
    const isFree = Object.hasOwn(module, name) && (before === null || isMember(before));
    if (!isFree) fail("InvalidArgument", where, `"${name}" is already a property of the module.`);
  }
  Object.assign(module, { [name]: value });
}
