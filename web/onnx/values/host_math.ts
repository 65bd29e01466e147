// Arithmetic on JavaScript arrays, with broadcasting.

import { fail } from "../../errors/errors.js";
import type { TypeName } from "../proto/types.js";
import { Host } from "./host.js";
import { isInteger } from "./types.js";

/** Returns the number of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Returns the broadcast of several shapes. */
export function broadcastShape(...shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, i) => {
    const sizes = shapes.map((shape) => shape[i - rank + shape.length] ?? 1);
    const size = sizes.find((size) => size !== 1) ?? 1;
    if (sizes.every((other) => other === 1 || other === size)) return size;
    const list = shapes.map((shape) => `[${shape}]`).join(" and ");
    return fail("ShapeMismatch", "OnnxModule", `the shapes ${list} do not broadcast.`);
  });
}

/** Broadcasts an array to a larger shape. */
export function expand(array: Host<number>, shape: readonly number[]): Host<number> {
  if (array.shape.join() === shape.join()) return array;
  const strides = stridesOf(array.shape);
  const offset = shape.length - array.shape.length;
  const data = Array.from({ length: sizeOf(shape) }, (_, at) => {
    let left = at;
    let from = 0;
    for (let i = shape.length - 1; i >= 0; i--) {
      const size = shape[i] as number;
      const position = left % size;
      left = (left - position) / size;
      if (i >= offset && array.shape[i - offset] !== 1)
        from += position * (strides[i - offset] as number);
    }
    return array.data[from] as number;
  });
  return new Host(array.type, shape, data);
}

/** Returns the stride of each axis in elements. */
export function stridesOf(shape: readonly number[]): number[] {
  return shape.map((_, i) => sizeOf(shape.slice(i + 1)));
}

/** The limit on elements of a result in JavaScript: small arrays can broadcast to any size. */
const kMostResult = 4096;

/** Applies a function elementwise, with broadcasting; returns undefined for a result so large that it should be a tensor. */
export function combine(
  arrays: readonly Host<number>[],
  fn: (...values: number[]) => number | boolean,
  type: TypeName = (arrays[0] as Host).type,
): Host<number> | undefined {
  const shape = broadcastShape(...arrays.map((array) => array.shape));
  if (sizeOf(shape) > kMostResult) return undefined;
  const same = arrays.map((array) => expand(array, shape).data);
  const data = Array.from({ length: sizeOf(shape) }, (_, i) =>
    roundTo(Number(fn(...same.map((data) => data[i] as number))), type),
  );
  return new Host(type, shape, data);
}

/** Rounds or wraps a number to a type. */
export function roundTo(value: number, type: TypeName): number {
  if (type === "bool") return Number(value !== 0);
  if (isInteger(type)) return Math.trunc(value);
  return type === "float" ? Math.fround(value) : value;
}
