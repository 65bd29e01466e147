// Which of the tensors that are saved share memory, and the part of that memory that a file has to contain.

import { readStored } from "../../ops/read.js";
import { checked, native } from "../../runtime/bridge/bridge.js";
import { fail } from "../../runtime/errors/errors.js";
import { bytesIn, type DType, itemSize } from "../../tensor/dtype.js";
import { elementsOf } from "../../tensor/elements.js";
import { geometryOf, handleOf } from "../../tensor/info.js";
import { readLater } from "../../tensor/read_later.js";
import { contiguousStrides } from "../../tensor/shape.js";
import { newTensor, type Tensor } from "../../tensor/tensor.js";

/** Memory that a file contains. */
export interface SavedStorage {
  readonly dtype: DType;
  readonly count: number;
  /** Copies its elements to the file. */
  write(target: Uint8Array): Promise<void>;
}

/** Where in the file a tensor is. */
export interface SavedPlace {
  readonly storage: SavedStorage;
  readonly offset: number;
  readonly strides: readonly number[];
}

/** The part of a memory that some tensors lie in, in elements from its beginning. */
interface Span {
  readonly dtype: DType;
  start: number;
  end: number;
  readonly tensors: Tensor[];
}

/** Returns the places of tensors. Those that share memory on the CPU share it in the file; others are packed. */
export function placesOf(where: string, tensors: Iterable<Tensor>): Map<Tensor, SavedPlace> {
  const spans = new Map<number | Tensor, Span>();
  for (const tensor of tensors) {
    const { dtype } = tensor;
    const [start, end] = boundsOf(tensor);
    const address = addressOf(tensor) ?? tensor;
    const span = spans.get(address);
    if (span === undefined) spans.set(address, { dtype, start, end, tensors: [tensor] });
    else {
      if (span.dtype !== dtype) failMixed(where, span.dtype, dtype);
      span.start = Math.min(span.start, start);
      span.end = Math.max(span.end, end);
      span.tensors.push(tensor);
    }
  }
  const places = new Map<Tensor, SavedPlace>();
  for (const span of spans.values())
    for (const [tensor, place] of placesIn(where, span)) places.set(tensor, place);
  return places;
}

function failMixed(where: string, first: DType, second: DType): never {
  fail(
    "InvalidArgument",
    where,
    `two tensors share memory and have the dtypes ${first} and ${second}, which PyTorch's files cannot express. Save a clone() of one.`,
  );
}

// Returns where a tensor's memory begins, or null for one that shares none that is known here.
function addressOf(tensor: Tensor): number | null {
  const { numel, dtype, device, offset } = tensor;
  if (device !== "cpu" || numel === 0) return null;
  return checked(native.dataAddress(handleOf(tensor))) - offset * itemSize(dtype);
}

// Returns the positions of the first element and after the last one.
function boundsOf(tensor: Tensor): [start: number, end: number] {
  const { shape, strides, numel } = geometryOf(tensor);
  const start = tensor.offset;
  const last = shape.reduce((sum, size, dim) => sum + (size - 1) * (strides[dim] ?? 0), 0);
  return [start, numel === 0 ? start : start + last + 1];
}

function* placesIn(where: string, span: Span): Iterable<[Tensor, SavedPlace]> {
  const { dtype, start, end, tensors } = span;
  const [first, ...others] = tensors as [Tensor, ...Tensor[]];
  const { numel, shape, strides } = geometryOf(first);
  // A tensor with gaps that shares nothing, such as a column, need not take the elements between along.
  if (others.length === 0 && (end - start > numel || first.device !== "cpu")) {
    yield [first, { storage: packed(where, first), offset: 0, strides: contiguousStrides(shape) }];
    return;
  }
  const count = end - start;
  const storage: SavedStorage = {
    dtype,
    count,
    write: async (target) => copyMemory(first, dtype, start, count, target),
  };
  yield [first, { storage, offset: first.offset - start, strides }];
  for (const tensor of others)
    yield [tensor, { storage, offset: tensor.offset - start, strides: tensor.strides }];
}

function packed(where: string, tensor: Tensor): SavedStorage {
  return {
    dtype: tensor.dtype,
    count: tensor.numel,
    write: async (target) =>
      target.set(
        bytesIn(await readLater(where, tensor, newTensor, (host) => readStored(host, where))),
      ),
  };
}

function copyMemory(
  tensor: Tensor,
  dtype: DType,
  start: number,
  count: number,
  target: Uint8Array,
): void {
  const alias = tensor.detach();
  const whole = alias.asStrided([count], [1], start);
  try {
    target.set(bytesIn(elementsOf(whole, dtype, count)));
  } finally {
    whole.dispose();
    alias.dispose();
  }
}
