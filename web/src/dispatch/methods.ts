// The ops as methods of Tensor, which generated/methods.ts declares. They are made from the table and not from the functions of
// generated/ops.ts, so a bundle only contains the functions that its program imports.

import { camelCase } from "../runtime/host/spelling.js";
import { callInPlace, callOp } from "./call.js";
import { type AnyFunction, define, defineInPlace, inPlaceFlags, inPlaceForm } from "./define.js";
import { forEachOp, opOf } from "./op_lines.js";
import type { Op } from "./signature.js";
import { withGenerator } from "./with_generator.js";

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Attaches the ops to a prototype as methods, with `this` as their first argument, or the second as in PyTorch. */
export function attachOps(prototype: object): void {
  forEachOp((name, marks) => {
    if (!marks.includes("m")) return;
    const isDrawing = marks.includes("g");
    const isInPlace = name.endsWith("_");
    attachMethod(
      prototype,
      camelCase(name),
      isDrawing
        ? randomMethod(name)
        : isInPlace
          ? inPlaceMethod(name)
          : methodOf(name, marks.includes("f") ? withThisSecond : withThis),
    );
    if (marks.includes("i")) attachMethod(prototype, camelCase(`${name}_`), inPlaceMethod(name));
  });
}

function methodOf(name: string, argumentsOf: typeof withThis): Method {
  let op: Op | undefined;
  return function (...args) {
    op ??= opOf(name);
    return callOp(op, argumentsOf(this, args));
  };
}

function inPlaceMethod(name: string): Method {
  const flags = inPlaceFlags(name);
  let op: Op | undefined;
  return function (...args) {
    op ??= inPlaceForm(name);
    return callInPlace(op, withThis(this, args), flags);
  };
}

function randomMethod(name: string): Method {
  const run: AnyFunction = withGenerator(name.endsWith("_") ? defineInPlace(name) : define(name));
  return function (...args) {
    return (run as (...args: readonly unknown[]) => unknown)(this, ...args);
  };
}

function attachMethod(prototype: object, name: string, method: Method): void {
  Object.defineProperty(method, "name", { value: name, configurable: true });
  Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true });
}

// The common cases are spelled out so that V8 does not allocate a second array for the arguments.
function withThis(self: unknown, args: readonly unknown[]): unknown[] {
  if (args.length === 1) return [self, args[0]];
  return args.length === 0 ? [self] : [self, ...args];
}

function withThisSecond(self: unknown, [first, ...rest]: readonly unknown[]): unknown[] {
  return [first, self, ...rest];
}
