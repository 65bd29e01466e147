// The ops as methods of Tensor, which generated/methods.ts declares. They come from the table, not from the functions of
// generated/ops.ts: so a bundle has those functions alone that its program imports.

import { camelCase } from "../runtime/spelling.js";
import { type AnyFunction, define, defineInPlace } from "./define.js";
import { drawing } from "./drawing.js";
import { forEachOp } from "./op_lines.js";

/** Gives a class the ops as methods: the object is their first argument. */
export function attachOps(prototype: object): void {
  forEachOp((name, marks) => {
    if (!marks.includes("m")) return;
    const run = name.endsWith("_") ? defineInPlace(name) : define(name);
    attachMethod(prototype, camelCase(name), marks.includes("g") ? drawing(run) : run);
    if (marks.includes("i")) attachMethod(prototype, camelCase(`${name}_`), defineInPlace(name));
  });
}

function attachMethod(prototype: object, name: string, run: AnyFunction): void {
  const method = function (this: unknown, ...args: unknown[]): unknown {
    return (run as (...args: readonly unknown[]) => unknown)(this, ...args);
  };
  Object.defineProperty(method, "name", { value: name, configurable: true });
  Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true });
}
