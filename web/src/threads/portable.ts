// Values that are sent to another thread. Tensors are sent as handles, each with a reference that the receiver
// takes ownership of; everything else is left to structured cloning. Structured cloning cannot handle tensors, so
// a tensor inside an object other than a plain object or array is rejected.

import { native } from "../runtime/bridge/bridge.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isMap, isSet } from "../runtime/host/realm.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";

/** Values that can be posted. */
export interface Portable {
  readonly values: readonly unknown[];
  /** The handles in `values`. */
  readonly handles: readonly number[];
}

const kHandle = "edgegrad:handle";

/**
 * Encodes values and passes them to `post`, which is also told whether all objects among them are copies; releases their handles if
 * `post` throws.
 */
export function send(
  values: readonly unknown[],
  post: (portable: Portable, areCopies: boolean) => void,
): void {
  const handles: number[] = [];
  let areCopies = true;
  const other = (object: object, path: string) => {
    areCopies = false;
    refuseTensorsIn(object, path);
  };
  try {
    const encoded = values.map((value) =>
      replace(value, { tensor: (tensor) => encode(tensor, handles), other }),
    );
    post({ values: encoded, handles }, areCopies);
  } catch (error) {
    release(handles);
    throw error;
  }
}

/** Decodes values that were sent; their tensors belong to this thread. */
export function receive({ values }: Portable): unknown[] {
  return values.map((value) => replace(value, { handle: (handle) => new Tensor(handle) }));
}

/** Transfers handles to another thread; 0 stands for threads that are not workers of eg.spawn(). */
export function give(handles: readonly number[], thread: number): void {
  for (const handle of handles) native.giveHandle(handle, thread);
}

/** Releases handles that were not received by any thread. */
export function release(handles: readonly number[]): void {
  for (const handle of handles) native.release(handle);
}

function encode(tensor: Tensor, handles: number[]): object {
  const handle = native.retain(handleOf(tensor));
  handles.push(handle);
  return { [kHandle]: handle };
}

interface Replacements {
  tensor?(tensor: Tensor): object;
  handle?(handle: number): Tensor;
  /** Called with an object that is not copied, and its path. */
  other?(other: object, path: string): void;
}

// Copies plain arrays and objects with tensors or handles replaced.
function replace(value: unknown, { tensor, handle, other }: Replacements): unknown {
  const copies = new Map<object, unknown>();
  const visit = (part: unknown, path: string): unknown => {
    if (part instanceof Tensor) return tensor?.(part);
    if (!isPlain(part)) {
      if (typeof part === "object" && part !== null) other?.(part, path);
      return part;
    }
    const known = copies.get(part);
    if (known !== undefined) return known;
    if (handle && !Array.isArray(part) && kHandle in part) return handle(part[kHandle] as number);
    const copy: unknown[] | Record<string, unknown> = Array.isArray(part) ? [] : {};
    copies.set(part, copy);
    for (const [key, inner] of Object.entries(part)) {
      (copy as Record<string, unknown>)[key] = visit(inner, `${path}.${key}`);
    }
    return copy;
  };
  return visit(value, "");
}

function refuseTensorsIn(holder: object, path: string): void {
  if (!hasTensor(holder)) return;
  fail(
    "InvalidArgument",
    "spawn",
    `${path === "" ? "a value" : `the value's ${path}`} cannot be sent to another thread: it is ` +
      `${describe(holder)} that contains a tensor. Send tensors directly, in arrays or in plain ` +
      "objects (for a model: its stateDict()), and create other objects there.",
  );
}

// Searches everything that structured cloning would copy.
function hasTensor(holder: object): boolean {
  const found = new Set<unknown>([holder]);
  // Iteration over a set includes elements that are added during it.
  for (const value of found) {
    if (value instanceof Tensor) return true;
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
    for (const inner of contentsOf(value)) found.add(inner);
  }
  return false;
}

function contentsOf(value: object): unknown[] {
  if (isMap(value)) return [...value].flat();
  return isSet(value) ? [...value] : Object.values(value);
}

/** True for a plain object or array, which is copied when it is sent. */
export function isPlain(value: unknown): value is Record<string, unknown> | unknown[] {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
