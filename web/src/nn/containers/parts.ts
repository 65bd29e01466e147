// Containers hold their parts as properties, whose names are those in PyTorch's state dicts.

import { describe, fail } from "../../runtime/errors/errors.js";
import { Module } from "../module.js";
import type { Parameter } from "../parameter.js";

/** A module or parameter that a container holds. */
export type Part = Module | Parameter;

/** Adds a part under a new name, after the others, or replaces the part that has the name. */
export function setPart(
  owner: Module,
  names: () => readonly string[],
  name: string,
  part: Part,
): void {
  const where = owner.constructor.name;
  if (name === "" || name.includes(".")) {
    fail("InvalidArgument", where, `a name can't contain "." and can't be empty, got "${name}".`);
  }
  if (name in owner && !names().includes(name)) {
    fail(
      "InvalidArgument",
      where,
      `"${name}" is already a property of the container: use another name.`,
    );
  }
  const isNew = !(name in owner);
  Object.assign(owner, { [name]: part });
  if (!isNew || names().at(-1) === name) return;
  Reflect.deleteProperty(owner, name);
  fail(
    "InvalidArgument",
    where,
    `"${name}" would not come last: JavaScript puts properties with whole numbers as names first. Use another name.`,
  );
}

/** Adds a module under a name. */
export function setModule(owner: Module, name: string, part: unknown): void {
  const where = owner.constructor.name;
  if (!(part instanceof Module)) {
    fail("InvalidArgument", where, `expected a module, got ${describe(part)}.`);
  }
  setPart(owner, () => moduleEntries(owner).map(([own]) => own), name, part);
}

/** Adds a module at the end, named by its position. */
export function appendModule(owner: Module, part: unknown): void {
  setModule(owner, String(moduleEntries(owner).length), part);
}

/** Returns the modules of a container with their names; a module with two names comes twice. */
export function moduleEntries<M extends Module>(owner: Module): [string, M][] {
  return Object.entries(owner).filter(([, value]) => value instanceof Module) as [string, M][];
}
