// What the calls about a single tensor need: its properties, its elements as buffers, and its gradient.

import type { Bytes, DType, Tensor } from "edgegrad";
import type { Engine, PyBuffer, PyBufferView, PyFunction } from "./engine.js";
import type { Handles } from "./handles.js";
import { isIntegral, kNone, type Values } from "./values.js";

// Pyodide's names of the elements of buffers. Half floats come as float32.
const kBufferTypes: Readonly<Record<string, string>> = {
  float32: "f32",
  float64: "f64",
  int8: "i8",
  int16: "i16",
  int32: "i32",
  int64: "i64",
  uint8: "u8",
  uint16: "u16",
  uint32: "u32",
  uint64: "u64",
  bool: "u8",
};

// What `value` says about the number it leaves in the array of numbers.
enum Item {
  Float,
  Integer,
  False,
  True,
  Text,
  /** The tensor is on another device. */
  Elsewhere,
}

/** Returns the functions about a single tensor. */
export function tensorFunctions(eg: Engine, handles: Handles, values: Values) {
  const at = (handle: number) => handles.objects[handle] as Tensor;
  // Numbers of tensors that are no views.
  const owners = new WeakMap<Tensor, number>();
  let lastOwner = 0;
  // An array of Python's, through which numbers go without an object for each.
  let scratch: PyBuffer;
  let numbers: PyBufferView;
  const room = (): number[] => {
    // Python's memory has grown, and all views of it are empty.
    if (numbers.data.byteLength === 0) numbers = scratch.getBuffer("f64");
    return numbers.data as unknown as number[];
  };
  return {
    /** Takes the array of 64 numbers. */
    scratch(array: PyBuffer): void {
      scratch = array.copy();
      numbers = scratch.getBuffer("f64");
    },
    /** Writes the sizes and returns how many. */
    shape(handle: number): number {
      const { shape } = at(handle);
      const out = room();
      for (let i = 0; i < shape.length; i++) out[i] = shape[i] as number;
      return shape.length;
    },
    /** Reads the element of a tensor that has one, on the CPU or if `waits`. */
    value(handle: number, waits: boolean): Item {
      const tensor = at(handle);
      if (!waits && tensor.device !== "cpu") return Item.Elsewhere;
      const item = tensor.item<number | boolean>();
      if (typeof item === "boolean") return item ? Item.True : Item.False;
      if (typeof item !== "number") {
        values.answer(item);
        return Item.Text;
      }
      room()[0] = item;
      return isIntegral(tensor.dtype) ? Item.Integer : Item.Float;
    },
    /** As value(), without blocking the thread; resolves to a text. */
    async later(handle: number): Promise<string> {
      return values.describe(await at(handle).itemAsync());
    },
    /** Returns a property that is a string, a number or a boolean. */
    property(handle: number, name: string): unknown {
      return (at(handle) as unknown as Record<string, unknown>)[name];
    },
    /** Returns a number that views of the same tensor and the tensor itself have in common. */
    owner(handle: number): number {
      const owner = at(handle).base ?? at(handle);
      const known = owners.get(owner) ?? ++lastOwner;
      owners.set(owner, known);
      return known;
    },
    text(handle: number): string {
      return String(at(handle));
    },
    grad(handle: number): number {
      const { grad } = at(handle);
      return grad === null ? kNone : handles.put(grad);
    },
    setGrad(handle: number, grad: number): void {
      at(handle).grad = grad < 0 ? null : at(grad);
    },
    requireGrad(handle: number, value: boolean): void {
      at(handle).requiresGrad = value;
    },
    /** Calls backward(), after dropping the numbers that Python has let go. */
    backward(
      handle: number,
      gradient: number,
      retain: boolean | null,
      create: boolean,
      ...dead: number[]
    ): void {
      for (const one of dead) handles.drop(one);
      at(handle).backward(gradient < 0 ? undefined : at(gradient), {
        ...(retain === null || retain === undefined ? {} : { retainGraph: retain }),
        createGraph: create,
      });
    },
    parameter(handle: number, requiresGrad: boolean): number {
      return handles.put(new eg.nn.Parameter(at(handle), requiresGrad));
    },
    /** Makes a tensor of a buffer's elements: `type` is theirs, float32 for half floats. */
    fromBuffer(buffer: PyBuffer, type: DType, ...shape: number[]): number {
      const view = buffer.getBuffer(kBufferTypes[type] ?? "f32");
      try {
        const copy: Float32Array = view.data.slice();
        if (type !== "bool") return handles.put(eg.tensor(copy, { dtype: type, shape }));
        const bytes = eg.tensor(copy, { dtype: "uint8", shape });
        const made = bytes.to("bool");
        bytes.dispose();
        return handles.put(made);
      } finally {
        view.release();
      }
    },
    /** Returns the elements; complex ones as pairs, half floats as float32. */
    elements(handle: number): Bytes | ArrayBufferView {
      const tensor = at(handle).detach();
      const isHalf =
        kBufferTypes[tensor.dtype] === undefined && !/^complex(?:64|128)/.test(tensor.dtype);
      const plain = isHalf
        ? tensor.to(tensor.dtype === "complex32" ? "complex64" : "float32")
        : tensor;
      try {
        return plain.dataSync() as unknown as ArrayBufferView;
      } finally {
        tensor.dispose();
        if (plain !== tensor) plain.dispose();
      }
    },
    /** Takes the function that runs Python's collector. */
    onGrowth(collect: PyFunction): void {
      const call = collect.copy();
      handles.collect = () => call();
    },
    /** What memory() and runtime() say, and the number of objects that Python knows, as JSON. */
    memory: () => JSON.stringify({ ...eg.memory(), handles: handles.size }),
    runtime: () => JSON.stringify(eg.runtime()),
  };
}
