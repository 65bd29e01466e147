// A safetensors file contains the size of the header as a little-endian 64-bit number, the header as JSON,
// then the data. The header lists each tensor with its type, shape and the range of its data.

import { describe, fail } from "../runtime/errors/errors.js";
import { encodeUtf8 } from "../runtime/host/utf8.js";
import { itemSize } from "../tensor/dtype.js";
import { geometryOf } from "../tensor/info.js";
import type { Bytes } from "../tensor/own_memory.js";
import { Tensor } from "../tensor/tensor.js";
import { storedName } from "./stored_types.js";

/** The number of bytes before the header. */
export const kHeaderBytes = 8;

/** The largest header that the format allows. */
export const kMaxHeaderSize = 100_000_000;

/** The header's key for metadata. */
export const kMetadataKey = "__metadata__";

/** A tensor and its name in a file. */
export type NamedTensor = readonly [name: string, tensor: Tensor];

/** A tensor that will be in a file. */
interface PlacedTensor {
  readonly name: string;
  readonly tensor: Tensor;
  readonly type: string;
  readonly shape: readonly number[];
  /** The size of an element. */
  readonly width: number;
  readonly bytes: number;
}

/** What a file will contain. */
export interface SafetensorsLayout {
  /** The beginning of the file, up to the data. */
  readonly header: Bytes;
  /** The tensors in the order of their data, which follow one another without gaps. */
  readonly tensors: readonly PlacedTensor[];
  /** The size of the file. */
  readonly bytes: number;
}

/** Lays out a file; `where` is the calling function, for errors. */
export function layOut(
  where: string,
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> | undefined,
): SafetensorsLayout {
  const placed = tensors.map(([name, tensor]) => placedTensor(where, name, tensor));
  // Uses the order of the reference implementation: widest elements first, so that all tensors are aligned.
  placed.sort((a, b) => b.width - a.width || (a.name < b.name ? -1 : 1));
  const fields: [string, unknown][] = [];
  if (metadata !== undefined) fields.push([kMetadataKey, metadata]);
  let end = 0;
  for (const { name, type, shape, bytes } of placed) {
    fields.push([name, { dtype: type, shape, data_offsets: [end, end + bytes] }]);
    end += bytes;
  }
  // fromEntries() and not assignment, because a tensor may be called "__proto__".
  const header = headerOf(Object.fromEntries(fields));
  if (header.length > kHeaderBytes + kMaxHeaderSize) {
    fail(
      "InvalidArgument",
      where,
      `the names and metadata take ${header.length} bytes; a file has at most ${kMaxHeaderSize} bytes of them. Use several files.`,
    );
  }
  return { header, tensors: placed, bytes: header.length + end };
}

function headerOf(fields: object): Bytes {
  const text = encodeUtf8(JSON.stringify(fields));
  // The header is padded with spaces so that the data starts at a multiple of 8.
  const size = Math.ceil(text.length / 8) * 8;
  const header = new Uint8Array(kHeaderBytes + size).fill(0x20, kHeaderBytes);
  new DataView(header.buffer).setBigUint64(0, BigInt(size), true);
  header.set(text, kHeaderBytes);
  return header;
}

function placedTensor(where: string, name: string, tensor: unknown): PlacedTensor {
  if (!(tensor instanceof Tensor)) {
    fail("InvalidArgument", where, `"${name}": expected a tensor, got ${describe(tensor)}.`);
  }
  if (name === kMetadataKey) {
    fail("InvalidArgument", where, `"${name}" cannot be the name of a tensor.`);
  }
  if (tensor.isSparse) {
    const advice = "Save its indices and values, or its toDense().";
    fail(
      "InvalidArgument",
      where,
      `"${name}" is sparse, which the format does not have. ${advice}`,
    );
  }
  const { dtype, shape, numel } = geometryOf(tensor);
  const type = storedName(dtype);
  if (type === undefined) {
    fail("DtypeMismatch", where, `"${name}": the format has no type for ${dtype}.`);
  }
  const width = itemSize(dtype);
  return { name, tensor, type, shape, width, bytes: numel * width };
}
