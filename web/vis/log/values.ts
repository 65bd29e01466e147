// Reads the values of tensors: immediately from the CPU, as a promise from other devices.

import { type NumericArray, noGrad, scope, Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";

/** A tensor of any shape and real dtype, or numbers. */
export type Values = Tensor | NumericArray | readonly number[];

/** A value or a promise of it. */
export type Later<T> = T | Promise<T>;

/** Calls a function with a value when it is available. */
export function afterwards<T, U>(value: Later<T>, next: (value: T) => U): Later<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns the present values as numbers; a promise for a tensor on another device than the CPU. */
export function numbersOf(where: string, name: string, values: Values): Later<ArrayLike<number>> {
  if (values instanceof Tensor) return elementsOf(where, name, values);
  const isList = Array.isArray(values) || (ArrayBuffer.isView(values) && "length" in values);
  if (!isList) return refuse(where, name, "a tensor or an array of numbers", values);
  const list = values as ArrayLike<unknown>;
  const isNumber = (value: unknown) => typeof value === "number" || typeof value === "bigint";
  for (let i = 0; i < list.length; i++)
    if (!isNumber(list[i])) return refuse(where, `${name}[${i}]`, "a number", list[i]);
  return Float64Array.from(list as ArrayLike<number>, Number);
}

function elementsOf(where: string, name: string, tensor: Tensor): Later<ArrayLike<number>> {
  if (tensor.dtype.startsWith("complex"))
    return refuse(where, name, "a tensor of a real dtype", `one of ${tensor.dtype}`);
  const read = (dtype: "float32" | "float64") =>
    scope(() => noGrad(() => tensor.detach().to(dtype).clone()));
  if (tensor.device === "cpu") {
    const copy = read("float64");
    const elements = copy.dataSync();
    copy.dispose();
    return elements as Float64Array;
  }
  const copy = read("float32");
  return copy
    .data()
    .then((elements) => elements as Float32Array)
    .finally(() => copy.dispose());
}
