// Reads tensor data that is outside of the messages.

import type * as eg from "edgegrad";
import { kElementTypes } from "../export/element_types.js";
import type { Message } from "../proto/schema.js";
import {
  type Apart,
  disposeTensors,
  type FilePart,
  type Stored,
  storedTensor,
} from "../tensors/decode.js";
import { Filling } from "../tensors/pieces.js";
import { dtypeOf } from "../values/types.js";

type TensorMessage = Message<"Tensor">;

/** Smaller data is read immediately, because it can be a setting of an op. */
const kSmall = 64 * 2 ** 10;
/** The bytes of a file that are read at once: each read of a Blob takes about a millisecond. */
const kReadBytes = 8 * 2 ** 20;

/**
 * Returns the contents of these parts of files: a tensor for each large initializer, bytes for the others. A message is checked
 * before its data is read. If one cannot be read, all tensors are freed.
 */
export async function readParts(
  parts: ReadonlyMap<TensorMessage, FilePart>,
  initializers: readonly TensorMessage[],
): Promise<Map<TensorMessage, Apart>> {
  const found = new Map<TensorMessage, Apart>();
  const own = new Set(initializers);
  try {
    for (const [message, part] of parts) {
      const tensor = storedTensor(message, part);
      const dtype = dtypeOf(tensor.type);
      // The bytes of element types that edgegrad lacks are kept for save().
      const isOwnType = dtype !== null && kElementTypes[dtype] === message.dataType;
      const isTensor = part.length > kSmall && isOwnType && own.has(message);
      found.set(message, isTensor ? await tensorOfPart(tensor, part) : await bytesIn(part));
    }
    return found;
  } catch (error) {
    disposeTensors(found);
    throw error;
  }
}

async function tensorOfPart(tensor: Stored, { file, start, length }: FilePart): Promise<eg.Tensor> {
  const filling = new Filling(tensor);
  try {
    for (let at = 0; at < length; at += kReadBytes) {
      const end = Math.min(at + kReadBytes, length);
      filling.addAll(await file.read(start + at, start + end));
    }
  } catch (error) {
    filling.tensor.dispose();
    throw error;
  }
  return filling.tensor;
}

async function bytesIn({ file, start, length }: FilePart): Promise<Uint8Array> {
  const bytes = await file.read(start, start + length);
  return file.bytes === null ? bytes.slice() : bytes;
}
