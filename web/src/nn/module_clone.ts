// Deep copies of modules.

import { isPlainObject } from "../arguments/read.js";
import { noGrad } from "../autograd/grad_mode.js";
import { clone } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { isMap, isSet } from "../runtime/host/realm.js";
import { Tensor } from "../tensor/tensor.js";
import { Buffer, Parameter, parameterFrom, shapelessOrNull } from "./parameter.js";

/** The copies that exist already, by their originals: what two names share, they share in the copy, too. */
export type Copies = Map<object, unknown>;

/**
 * Returns a deep copy of a value: copies tensors, lists, Maps, Sets and plain objects, and modules by `copyModule`.
 * Functions and objects of other classes are shared.
 */
export function deepCopy(
  value: unknown,
  copies: Copies,
  copyModule: (module: object) => unknown,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (copies.has(value)) return copies.get(value);
  const again = (inner: unknown) => deepCopy(inner, copies, copyModule);
  const note = <T>(copy: T): T => {
    copies.set(value, copy);
    return copy;
  };
  if (value instanceof Tensor) return note(copyTensor(value));
  if (Array.isArray(value)) {
    const list: unknown[] = note([]);
    for (const inner of value) list.push(again(inner));
    return list;
  }
  if (isMap(value)) {
    const map = note(new Map<unknown, unknown>());
    for (const [key, inner] of value) map.set(again(key), again(inner));
    return map;
  }
  if (isSet(value)) {
    const set = note(new Set<unknown>());
    for (const inner of value) set.add(again(inner));
    return set;
  }
  if (isPlainObject(value)) {
    const object: Record<string, unknown> = note({});
    for (const [name, inner] of Object.entries(value)) object[name] = again(inner);
    return object;
  }
  return copyModule(value);
}

function copyTensor(tensor: Tensor): Tensor {
  const shapeless = shapelessOrNull(tensor);
  if (shapeless !== null) return shapeless.copy();
  if (!tensor.isLeaf) {
    fail(
      "InvalidArgument",
      "clone",
      "the module has a tensor that was computed with a gradient, which cannot be copied: store x.detach().",
    );
  }
  const copy = sameKind(
    tensor,
    noGrad(() => clone(tensor)),
  );
  copy.requiresGrad = tensor.requiresGrad;
  if (tensor.grad !== null) copy.grad = noGrad(() => clone(tensor.grad as Tensor));
  return copy;
}

function sameKind(tensor: Tensor, data: Tensor): Tensor {
  if (tensor instanceof Parameter) return parameterFrom(data);
  if (!(tensor instanceof Buffer)) return data;
  const buffer = new Buffer(data, { persistent: tensor.persistent });
  data.dispose();
  return buffer;
}
