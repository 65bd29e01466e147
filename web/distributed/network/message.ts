// Messages between ranks: a header of fixed size, followed by elements.

import type { CollectiveKind, Reduction, WireDType } from "../requests.js";

/** The operation that a message belongs to; it must be the same on all ranks. */
export interface OperationKey {
  readonly kind: CollectiveKind;
  readonly dtype: WireDType;
  readonly reduction: Reduction;
  readonly root: number;
  /** The number of all its elements. */
  readonly length: number;
}

/** The place of a message in an operation. */
export interface MessageKey {
  readonly generation: number;
  readonly from: number;
  readonly sequence: number;
  readonly piece: number;
  readonly step: number;
}

const kMagic = 0x45474431; // "EGD1"
export const kHeaderBytes = 40;

const kKinds = ["allReduce", "reduceScatter", "allGather", "broadcast"] as const;
const kDTypes = ["float32", "float64", "int32", "int64", "uint8"] as const;
const kReductions = ["sum", "mean", "max", "min", "product"] as const;

/** Returns the bytes of a message. */
export function encodeMessage(
  key: MessageKey,
  operation: OperationKey,
  payload: Uint8Array,
): Uint8Array {
  const bytes = new Uint8Array(kHeaderBytes + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, kMagic);
  view.setUint32(4, key.generation);
  view.setUint32(8, key.from);
  view.setUint32(12, key.sequence);
  view.setUint32(16, key.piece);
  view.setUint8(20, key.step);
  view.setUint8(21, kKinds.indexOf(operation.kind));
  view.setUint8(22, kDTypes.indexOf(operation.dtype));
  view.setUint8(23, kReductions.indexOf(operation.reduction));
  view.setUint32(24, operation.root);
  view.setFloat64(28, operation.length);
  bytes.set(payload, kHeaderBytes);
  return bytes;
}

/** A decoded message. */
export interface Message {
  readonly key: MessageKey;
  readonly operation: OperationKey;
  /** A copy, whose buffer begins with the elements. */
  readonly payload: Uint8Array<ArrayBuffer>;
}

/** Decodes a message; returns null if it is not from this package. */
export function decodeMessage(bytes: Uint8Array): Message | null {
  if (bytes.length < kHeaderBytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(0) !== kMagic) return null;
  const kind = kKinds[view.getUint8(21)];
  const dtype = kDTypes[view.getUint8(22)];
  const reduction = kReductions[view.getUint8(23)];
  if (kind === undefined || dtype === undefined || reduction === undefined) return null;
  return {
    key: {
      generation: view.getUint32(4),
      from: view.getUint32(8),
      sequence: view.getUint32(12),
      piece: view.getUint32(16),
      step: view.getUint8(20),
    },
    operation: { kind, dtype, reduction, root: view.getUint32(24), length: view.getFloat64(28) },
    payload: Uint8Array.from(bytes.subarray(kHeaderBytes)),
  };
}

/** Whether two operations are the same. */
export function isSameOperation(a: OperationKey, b: OperationKey): boolean {
  return (
    a.kind === b.kind &&
    a.dtype === b.dtype &&
    a.reduction === b.reduction &&
    a.root === b.root &&
    a.length === b.length
  );
}

/** Describes an operation. */
export function describeOperation({ kind, dtype, reduction, root, length }: OperationKey): string {
  const how = { allReduce: reduction, reduceScatter: reduction, allGather: "", broadcast: root };
  return `${kind}(${how[kind]}) of ${length} elements of ${dtype}`;
}
