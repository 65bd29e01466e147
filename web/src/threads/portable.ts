// Values on their way to another thread. Tensors go as handles, each a reference of its own that the
// receiver takes over; everything else is left to structured cloning. That knows no tensors, so one in
// an object that is not just copied here is refused.

import { native } from "../runtime/bridge.js";
import { describe, fail } from "../runtime/errors.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";

/** Values that can be posted. */
export interface Portable {
  readonly values: readonly unknown[];
  /** Those in `values`. */
  readonly handles: readonly number[];
}

const kHandle = "edgegrad:handle";

/** Makes values that can be posted, once; releases their handles when `post` throws. */
export function send(values: readonly unknown[], post: (portable: Portable) => void): void {
  const handles: number[] = [];
  try {
    const encoded = values.map((value) =>
      replace(value, { tensor: (one) => encode(one, handles), other: refuseTensorsIn }),
    );
    post({ values: encoded, handles });
  } catch (error) {
    release(handles);
    throw error;
  }
}

/** Returns the values that were sent, with tensors that belong to this thread. */
export function receive({ values }: Portable): unknown[] {
  return values.map((value) => replace(value, { handle: (handle) => new Tensor(handle) }));
}

/** Has handles belong to another thread; 0 stands for those that are no workers of eg.spawn(). */
export function give(handles: readonly number[], thread: number): void {
  for (const handle of handles) native.giveHandle(handle, thread);
}

/** Lets go of handles that nobody received. */
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
  /** Called with an object that is left as it is, and its place. */
  other?(other: object, path: string): void;
}

// A copy of plain arrays and objects with tensors or handles replaced.
function replace(value: unknown, { tensor, handle, other }: Replacements): unknown {
  const copies = new Map<object, unknown>();
  const visit = (one: unknown, path: string): unknown => {
    if (one instanceof Tensor) return tensor?.(one);
    if (!isPlain(one)) {
      if (typeof one === "object" && one !== null) other?.(one, path);
      return one;
    }
    const known = copies.get(one);
    if (known !== undefined) return known;
    if (handle && !Array.isArray(one) && kHandle in one) return handle(one[kHandle] as number);
    const copy: unknown[] | Record<string, unknown> = Array.isArray(one) ? [] : {};
    copies.set(one, copy);
    for (const [key, inner] of Object.entries(one)) {
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
      `${describe(holder)} with a tensor in it. Send tensors by themselves, in arrays or in plain ` +
      "objects (of a model: its stateDict()), and build the rest there.",
  );
}

// Looks through what structured cloning would copy of an object.
function hasTensor(holder: object): boolean {
  const found = new Set<unknown>([holder]);
  // A set is iterated over with what is added meanwhile.
  for (const value of found) {
    if (value instanceof Tensor) return true;
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
    for (const inner of contentsOf(value)) found.add(inner);
  }
  return false;
}

function contentsOf(value: object): unknown[] {
  if (value instanceof Map) return [...value].flat();
  return value instanceof Set ? [...value] : Object.values(value);
}

function isPlain(value: unknown): value is Record<string, unknown> | unknown[] {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
