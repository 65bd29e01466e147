// Collective operations on tensors, with torch.distributed's names. All ranks call the same functions in the same order.

import * as eg from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import { integerFrom, readOptions } from "../../nats/options.js";
import { groupFrom, type ProcessGroup } from "../group/process_group.js";
import type { Reduction } from "../requests.js";
import { checkTensor, elementCount, memoryFor, read, wireDType, write } from "./wire.js";

/** Options of collective operations. */
export interface CollectiveOptions {
  /** The group; default: the first group of this process. */
  readonly group?: ProcessGroup | undefined;
}

/** Options of `allReduce` and `reduceScatter`. */
export interface AllReduceOptions extends CollectiveOptions {
  /** The reduction; default "sum". */
  readonly op?: Reduction | undefined;
}

/** Options of `broadcast`. */
export interface BroadcastOptions extends CollectiveOptions {
  /** The rank whose elements all ranks receive; default 0. */
  readonly src?: number | undefined;
}

const kReductions: readonly unknown[] = ["sum", "mean", "max", "min", "product"];

function readReduction(where: string, options: unknown): { op: Reduction; group: ProcessGroup } {
  const { op = "sum", group } = readOptions(where, ["op", "group"], options);
  if (!kReductions.includes(op)) refuse(where, "op", `one of ${kReductions.join(", ")}`, op);
  return { op: op as Reduction, group: groupFrom(where, group) };
}

/** Reads the options of functions with a source rank. */
export function readSource(where: string, options: unknown): { src: number; group: ProcessGroup } {
  const given = readOptions(where, ["src", "group"], options);
  const group = groupFrom(where, given.group);
  const range = { least: 0, below: group.worldSize };
  return { src: integerFrom(where, "src", given.src ?? 0, range), group };
}

/**
 * Replaces the elements of a tensor by their sum over all ranks, or by another reduction `op`. The result is bitwise identical on all ranks,
 * because it is computed in the order of the ranks. Takes tensors of every dtype (half precision is summed in float32), of the same shape on
 * all ranks. Throws DeviceLost if a rank is lost or late.
 */
export async function allReduce(
  tensor: eg.Tensor,
  options: AllReduceOptions = {},
): Promise<eg.Tensor> {
  const where = "allReduce";
  checkTensor(where, tensor);
  const { op, group } = readReduction(where, options);
  const dtype = wireDType(where, tensor, op);
  const data = memoryFor(tensor, dtype);
  write(tensor, dtype, data);
  await group.run({ where, kind: "allReduce", dtype, reduction: op, root: 0, data });
  read(tensor, dtype, data);
  return tensor;
}

/** Replaces the elements of a tensor by those of rank `src`. The shape and dtype are the same on all ranks. Throws DeviceLost if a rank is lost or late. */
export async function broadcast(
  tensor: eg.Tensor,
  options: BroadcastOptions = {},
): Promise<eg.Tensor> {
  const where = "broadcast";
  checkTensor(where, tensor);
  const { src, group } = readSource(where, options);
  const dtype = wireDType(where, tensor);
  const data = memoryFor(tensor, dtype);
  if (group.rank === src) write(tensor, dtype, data);
  await group.run({ where, kind: "broadcast", dtype, reduction: "sum", root: src, data });
  read(tensor, dtype, data);
  return tensor;
}

/** Returns the tensors of all ranks, in rank order. The shape and dtype are the same on all ranks. Throws DeviceLost if a rank is lost or late. */
export async function allGather(
  tensor: eg.Tensor,
  options: CollectiveOptions = {},
): Promise<eg.Tensor[]> {
  const where = "allGather";
  checkTensor(where, tensor);
  const { group: given } = readOptions(where, ["group"], options);
  const group = groupFrom(where, given);
  const dtype = wireDType(where, tensor);
  const data = memoryFor(tensor, dtype, group.worldSize);
  const count = elementCount(tensor);
  write(tensor, dtype, data, group.rank * count);
  await group.run({ where, kind: "allGather", dtype, reduction: "sum", root: 0, data });
  return Array.from({ length: group.worldSize }, (_, rank) => {
    const part = eg.zerosLike(tensor.detach());
    read(part, dtype, data, rank * count);
    return part;
  });
}

/**
 * Returns this rank's part of the sum over all ranks: part `rank` of `worldSize` along the first dimension, whose size must be a multiple
 * of `worldSize`. Throws ShapeMismatch otherwise, and DeviceLost if a rank is lost or late.
 */
export async function reduceScatter(
  tensor: eg.Tensor,
  options: AllReduceOptions = {},
): Promise<eg.Tensor> {
  const where = "reduceScatter";
  checkTensor(where, tensor);
  const { op, group } = readReduction(where, options);
  const { worldSize, rank } = group;
  const [rows = 0] = tensor.shape;
  if (tensor.shape.length === 0 || rows % worldSize !== 0) {
    const expected = `a first dimension that is a multiple of ${worldSize}`;
    fail("ShapeMismatch", where, `tensor: expected ${expected}, got the shape [${tensor.shape}].`);
  }
  const dtype = wireDType(where, tensor, op);
  const data = memoryFor(tensor, dtype);
  write(tensor, dtype, data);
  await group.run({ where, kind: "reduceScatter", dtype, reduction: op, root: 0, data });
  return eg.scope(() => {
    const part = eg.zerosLike(tensor.detach().narrow(0, 0, rows / worldSize));
    read(part, dtype, data, rank * elementCount(part));
    return part;
  });
}

/** Resolves when all ranks have called it. Throws DeviceLost if a rank is lost or late. */
export async function barrier(options: CollectiveOptions = {}): Promise<void> {
  const where = "barrier";
  const { group: given } = readOptions(where, ["group"], options);
  const group = groupFrom(where, given);
  const data = new SharedArrayBuffer(group.worldSize);
  const kind = "allGather";
  await group.run({ where, kind, dtype: "uint8", reduction: "sum", root: 0, data });
}
