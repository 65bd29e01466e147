// Which layer of a model an error comes from: "(in blocks.1: Linear(9, 2))". Each module that an error leaves adds its part of the
// path, so a call that succeeds costs nothing.

import { EdgeGradError } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";
import { attempt } from "../tensor/reachable.js";
import type { Module } from "./module.js";
import { joinPath } from "./module_paths.js";

interface Place {
  /** The message without a place. */
  readonly message: string;
  /** The text of the innermost module that failed. */
  readonly layer: string;
  /** The outermost module so far that the path begins at. */
  readonly root: Module;
  readonly path: string;
}

const places = new WeakMap<EdgeGradError, Place>();

/** Adds to the message of an error that leaves the call of `module` which layer failed; other values are not touched. */
export function nameLayer(error: unknown, module: Module): void {
  if (!EdgeGradError.isOne(error)) return;
  const place = places.get(error) ?? startAt(module, error.message);
  // Parts and their names are the user's, and may fail to be read.
  const name = attempt(() => module.namedModules().find(([, part]) => part === place.root)?.[0]);
  // The module called is not part of this one, but may be one of a module further out.
  if (name === undefined) return;
  const path = place.path === "" ? name : joinPath(name, place.path);
  places.set(error, { ...place, root: module, path });
  const { layer, message } = place;
  if (path !== "") setMessage(error, `${message} (in ${path}: ${layer})`);
  else if (!layer.endsWith("()")) setMessage(error, `${message} (in ${layer})`);
}

/** Returns the result of a call; a promise comes back as one whose error also names the layer. */
export function namingLayer<T>(result: T, module: Module): T {
  if (!isPromise(result)) return result;
  return Promise.resolve(result).catch((error: unknown) => {
    nameLayer(error, module);
    throw error;
  }) as T;
}

function startAt(module: Module, message: string): Place {
  const sizes = attempt(() => kLeadingSizes.exec(module.extraRepr())?.[0]) ?? "";
  const layer = `${module.constructor.name}(${sizes.replaceAll(/\w+=/g, "")})`;
  return { message, layer, root: module, path: "" };
}

// "in_features=9, out_features=2" in the text of a Linear, "3, 8" in that of a convolution.
const kLeadingSizes = /^(?:\w+=)?\d+(?:, (?:\w+=)?\d+)*(?=, |$)/;

function setMessage(error: EdgeGradError, message: string): void {
  const { stack } = error;
  // Unlike an assignment, this does not throw for an error that a program has frozen.
  if (stack !== undefined)
    Reflect.set(
      error,
      "stack",
      stack.replace(error.message, () => message),
    );
  Reflect.set(error, "message", message);
}
