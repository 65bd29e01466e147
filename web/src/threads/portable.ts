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
  readonly hasTensors: boolean;
}

const kHandle = "edgegrad:handle";

/** Makes values that can be posted, once, and the handles they hold; releases those when `post` throws. */
export function send(
  values: readonly unknown[],
  post: (portable: Portable, handles: readonly number[]) => void,
): void {
  const handles: number[] = [];
  try {
    const encoded = values.map((value) =>
      replace(value, (tensor) => encode(tensor, handles), refuseTensorsIn),
    );
    post({ values: encoded, hasTensors: handles.length > 0 }, handles);
  } catch (error) {
    for (const handle of handles) native.release(handle);
    throw error;
  }
}

/** Returns the values that were sent, with tensors of this thread. */
export function receive({ values }: Portable): unknown[] {
  return values.map((value) => replace(value, () => undefined));
}

function encode(tensor: Tensor, handles: number[]): object {
  const handle = native.retain(handleOf(tensor));
  handles.push(handle);
  return { [kHandle]: handle };
}

// A copy of plain arrays and objects with tensors replaced, or with handles replaced by tensors.
function replace(
  value: unknown,
  encoded: (tensor: Tensor) => object | undefined,
  checkOther: (other: object, path: string) => void = () => undefined,
): unknown {
  const copies = new Map<object, unknown>();
  const visit = (one: unknown, path: string): unknown => {
    if (one instanceof Tensor) return encoded(one);
    if (!isPlain(one)) {
      if (typeof one === "object" && one !== null) checkOther(one, path);
      return one;
    }
    const known = copies.get(one);
    if (known !== undefined) return known;
    if (!Array.isArray(one) && kHandle in one) return new Tensor(one[kHandle] as number);
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
