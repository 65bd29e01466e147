// Elements of a file's types, written to the memory of a tensor.

import { filledBy } from "../ops/create.js";
import type { StoredArray } from "../tensor/dtype.js";
import { elementsOf } from "../tensor/elements.js";
import type { Tensor } from "../tensor/tensor.js";
import { reject } from "./broken_file.js";
import type { StoredType } from "./stored_types.js";

/** The elements of a tensor in a file. */
export interface StoredTensor {
  readonly name: string;
  readonly type: StoredType;
  readonly shape: readonly number[];
  readonly count: number;
}

/** Returns a tensor with all of its elements in `bytes`, on the CPU. */
export function tensorOf(where: string, stored: StoredTensor, bytes: Uint8Array): Tensor {
  return filledBy(where, stored.type.dtype, stored.shape, (elements) => {
    store(stored, elements, 0, bytes);
  });
}

/**
 * Returns a tensor with the elements that arrive in pieces, on the CPU, and tells `onBytes` about each piece. Pieces may end within an
 * element.
 */
export async function tensorOfPieces(
  where: string,
  stored: StoredTensor,
  pieces: AsyncIterable<Uint8Array>,
  onBytes: (count: number) => void,
): Promise<Tensor> {
  const { type, shape, count } = stored;
  const tensor = filledBy(where, type.dtype, shape, () => {});
  try {
    let first = 0;
    for await (const bytes of wholeElements(pieces, type.bytes)) {
      const arrived = bytes.length / type.bytes;
      if (first + arrived > count) rejectCount(stored);
      // The memory may have moved while waiting for the piece.
      store(stored, elementsOf(tensor, type.dtype, count), first, bytes);
      first += arrived;
      onBytes(bytes.length);
    }
    if (first !== count) rejectCount(stored);
    return tensor;
  } catch (error) {
    tensor.dispose();
    throw error;
  }
}

function rejectCount({ name }: StoredTensor): never {
  reject(
    `tensor ${JSON.stringify(name)}: another number of bytes arrived than the file has for it.`,
  );
}

async function* wholeElements(
  pieces: AsyncIterable<Uint8Array>,
  width: number,
): AsyncIterable<Uint8Array> {
  let begun = new Uint8Array(0);
  for await (const piece of pieces) {
    let rest = piece;
    if (begun.length > 0) {
      const missing = Math.min(width - begun.length, rest.length);
      begun = Uint8Array.from([...begun, ...rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      if (begun.length < width) continue;
      yield begun;
    }
    const whole = rest.length - (rest.length % width);
    if (whole > 0) yield rest.subarray(0, whole);
    begun = rest.slice(whole);
  }
  if (begun.length > 0) reject("its data ends within an element.");
}

// Writes the elements of `bytes` to `elements`, from element `first` on.
function store(
  { type }: StoredTensor,
  elements: StoredArray,
  first: number,
  bytes: Uint8Array,
): void {
  const count = bytes.length / type.bytes;
  const start = elements.byteOffset + first * type.bytes;
  new Uint8Array(elements.buffer, start, bytes.length).set(bytes);
  if (type.dtype === "bool") {
    for (let i = first; i < first + count; i++) elements[i] = elements[i] === 0 ? 0 : 1;
  }
}
