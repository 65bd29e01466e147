// What Module.registerBuffer() and its kin check of a name before they assign.

import { Rule } from "../arguments/rule.js";
import { fail } from "../runtime/errors.js";
import type { Module } from "./module.js";

/** A name that a member of a module can have. */
export const memberName = /* @__PURE__ */ new Rule<string>(
  'a text without "."',
  (value) => typeof value === "string" && value !== "" && !value.includes("."),
);

/** Makes `value` a property of a module; throws where the name is taken, but for one of its members. */
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
    if (!isFree) fail("InvalidArgument", where, `attribute '${name}' already exists.`);
  }
  Object.assign(module, { [name]: value });
}
