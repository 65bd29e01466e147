// The workgroup that the parts of a merged dispatch share, although each of them was written for its own.

import type { Dispatch, WrittenDispatch } from "../recorder";

/** The workgroup of a dispatch. */
export interface Workgroup {
  readonly size: string;
  readonly threads: number;
  /** Whether its invocations are independent of each other, so that workgroups may have any size. */
  readonly isFree: boolean;
  /** The bytes of its memory. */
  readonly bytes: number;
}

const workgroupsOf = new WeakMap<WrittenDispatch, Workgroup>();

/** Returns the workgroup of a dispatch, as its text declares it. */
export function workgroupOf(dispatch: WrittenDispatch): Workgroup {
  const known = workgroupsOf.get(dispatch);
  if (known !== undefined) return known;
  const text = dispatch.source.body();
  const size = /@workgroup_size\(([^)]*)\)/.exec(text)?.[1] ?? "1";
  const threads = size.split(",").reduce((product, part) => product * Number(part), 1);
  const bytes = declaredBytes(text);
  const isFree = !size.includes(",") && bytes === 0 && !text.includes("workgroupBarrier");
  const found = { size, threads, isFree, bytes };
  workgroupsOf.set(dispatch, found);
  return found;
}

/** Returns the workgroup of a merged dispatch: the one of all parts that are not free, or the largest. */
export function sharedWorkgroup(parts: readonly WrittenDispatch[]): Workgroup {
  return parts
    .map(workgroupOf)
    .reduce((a, b) => (a.isFree && (!b.isFree || b.threads > a.threads) ? b : a));
}

/**
 * Returns parts that can share a workgroup: those that need another one than the smallest are narrowed to it. Returns undefined if
 * one of them cannot be. `write` writes the uniforms of a dispatch.
 */
export function withSharedWorkgroup(
  parts: readonly WrittenDispatch[],
  write: (dispatch: Dispatch) => WrittenDispatch,
): WrittenDispatch[] | undefined {
  const bound = parts.map(workgroupOf).filter(({ isFree }) => !isFree);
  const { size, threads } = bound.reduce(
    (a, b) => (b.threads < a.threads ? b : a),
    bound[0] ?? kAny,
  );
  const shared = parts.map((part) => {
    const own = workgroupOf(part);
    if (own.isFree || own.size === size) return part;
    const narrowed = part.source.narrowed?.(threads);
    return narrowed && write(narrowed);
  });
  return shared.every((part) => part !== undefined) ? shared : undefined;
}

/** Returns in how many workgroups of so many invocations a workgroup of a part is divided; in one, unless the part is free. */
export function sharesOf(part: WrittenDispatch, threads: number): number {
  return Math.ceil(workgroupOf(part).threads / threads);
}

const kAny = { size: "", threads: 0 };

/** Returns the bytes of the memory of a workgroup in which all parts run. */
export function workgroupBytes(parts: readonly WrittenDispatch[]): number {
  return parts.reduce((sum, part) => sum + workgroupOf(part).bytes, 0);
}

const kVariable = /^var<workgroup>\s+\w+\s*:\s*([^;]+);/gm;
const kBytes = { f32: 4, i32: 4, u32: 4, bool: 4, f16: 2 } as const;
/** Every variable begins at a multiple of this. */
const kAlignment = 16;

// The bytes of the variables that a workgroup shares.
function declaredBytes(text: string): number {
  return [...text.matchAll(kVariable)].reduce(
    (sum, [, type = ""]) => sum + aligned(bytesOf(type.trim(), text), kAlignment),
    0,
  );
}

// The bytes of a WGSL type, at most; the text declares its structs.
function bytesOf(type: string, text: string): number {
  if (type in kBytes) return kBytes[type as keyof typeof kBytes];
  const [, outer = "", inner = type] = /^(\w+)<(.*)>$/.exec(type) ?? [];
  if (outer === "atomic") return bytesOf(inner, text);
  const vector = /^vec([234])$/.exec(outer);
  if (vector) return (vector[1] === "2" ? 2 : 4) * bytesOf(inner, text);
  const array = /^(.*),\s*(\d+)u?$/.exec(inner);
  if (outer === "array" && array) return Number(array[2]) * bytesOf(array[1] ?? "", text);
  const members = new RegExp(`struct ${type} \\{([^}]*)\\}`).exec(text)?.[1];
  if (members === undefined) throw new Error(`the bytes of ${type} are not known`);
  const types = [...members.matchAll(/:\s*(\w+(?:<\w+>)?)/g)].map(([, member = ""]) => member);
  return types.reduce((sum, member) => sum + aligned(bytesOf(member, text), 8), 0);
}

function aligned(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit;
}
