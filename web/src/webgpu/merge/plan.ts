// Which dispatches of a recording run as one: those that do not depend on each other, although they need not follow each other.

import type { Block } from "../blocks";
import type { WrittenDispatch } from "../recorder";
import { type Access, canBeInFours } from "../shader";

/** Dispatches that run together, in the order in which they were recorded. */
export type Group = readonly WrittenDispatch[];

/** What a merged dispatch can have. */
export interface MergeLimits {
  /** Storage buffers. */
  readonly buffers: number;
  /** Bytes of uniforms. */
  readonly uniformBytes: number;
}

/** More parts would make shaders that are slow to compile, and branches for every workgroup. */
const kMaxParts = 4;
/** A dispatch with more workgroups keeps a GPU busy by itself. */
const kMaxWorkgroups = 4096;

interface Planned {
  readonly parts: WrittenDispatch[];
  readonly level: number;
}

/** Divides dispatches into groups, in an order in which every group may depend on earlier ones only. */
export function planGroups(dispatches: readonly WrittenDispatch[], limits: MergeLimits): Group[] {
  const levels = levelsOf(dispatches);
  const groups: Planned[] = [];
  const open = new Map<number, Planned[]>();
  for (const [i, dispatch] of dispatches.entries()) {
    const level = levels[i] as number;
    const candidates = open.get(level) ?? [];
    open.set(level, candidates);
    const found = isSmall(dispatch)
      ? candidates.find(({ parts }) => fit([...parts, dispatch], limits))
      : undefined;
    if (found !== undefined) {
      found.parts.push(dispatch);
      continue;
    }
    const group = { parts: [dispatch], level };
    groups.push(group);
    if (isSmall(dispatch)) candidates.push(group);
  }
  return groups.sort((a, b) => a.level - b.level).map(({ parts }) => parts);
}

function isSmall({ workgroups: [x, y, z] }: WrittenDispatch): boolean {
  return x * y * z <= kMaxWorkgroups;
}

// The level of a dispatch is above those of all dispatches that it must follow.
function levelsOf(dispatches: readonly WrittenDispatch[]): number[] {
  const lastWrite = new Map<Block, number>();
  const lastUse = new Map<Block, number>();
  return dispatches.map(({ source }) => {
    let level = 0;
    for (const { view, mode } of source.memory) {
      const before = mode === "read" ? lastWrite.get(view.block) : lastUse.get(view.block);
      if (before !== undefined) level = Math.max(level, before + 1);
    }
    for (const { view, mode } of source.memory) {
      if (mode !== "read")
        lastWrite.set(view.block, Math.max(level, lastWrite.get(view.block) ?? 0));
      lastUse.set(view.block, Math.max(level, lastUse.get(view.block) ?? 0));
    }
    return level;
  });
}

function fit(parts: readonly WrittenDispatch[], { buffers, uniformBytes }: MergeLimits): boolean {
  if (parts.length > kMaxParts) return false;
  if (
    !fitBuffers(
      parts.flatMap(({ source }) => source.memory),
      buffers,
    )
  )
    return false;
  return mergedBytes(parts) <= uniformBytes && fitTogether(parts);
}

/** Whether one shader can access all this memory, with at most this many buffers. */
export function fitBuffers(memory: readonly Access[], buffers: number): boolean {
  const inFours = new Set(memory.filter(({ as }) => as === "fours").map(({ view }) => view.block));
  return (
    new Set(memory.map(({ view }) => view.block)).size <= buffers &&
    memory.every((access) => !inFours.has(access.view.block) || canBeInFours(access))
  );
}

/** The invocations of a workgroup, and whether more of them may be there, which have nothing to do. */
export interface Workgroup {
  readonly size: string;
  readonly threads: number;
  readonly isExtensible: boolean;
}

const workgroupsOf = new WeakMap<WrittenDispatch, Workgroup>();

/** Returns the workgroup of a dispatch, as its text declares it. */
export function workgroupOf(dispatch: WrittenDispatch): Workgroup {
  const known = workgroupsOf.get(dispatch);
  if (known !== undefined) return known;
  const text = dispatch.source.body();
  const size = /@workgroup_size\(([^)]*)\)/.exec(text)?.[1] ?? "1";
  const threads = size.split(",").reduce((product, part) => product * Number(part), 1);
  // All invocations of a workgroup have to arrive at a barrier.
  const isExtensible = !size.includes(",") && !text.includes("workgroupBarrier");
  const found = { size, threads, isExtensible };
  workgroupsOf.set(dispatch, found);
  return found;
}

/** Returns the workgroup in which all parts run. */
export function commonWorkgroup(parts: readonly WrittenDispatch[]): Workgroup {
  return parts
    .map(workgroupOf)
    .reduce((a, b) =>
      b.threads > a.threads || (b.threads === a.threads && !b.isExtensible) ? b : a,
    );
}

function fitTogether(parts: readonly WrittenDispatch[]): boolean {
  const { size } = commonWorkgroup(parts);
  return parts.map(workgroupOf).every((own) => own.isExtensible || own.size === size);
}

/** The bytes of one vector of four numbers, to which the uniforms of a part are padded. */
export const kFour = 16;

/** Returns the bytes of the uniforms of a merged dispatch: a vector for each part, then those of the parts. */
export function mergedBytes(parts: readonly WrittenDispatch[]): number {
  return parts.reduce(
    (sum, { uniforms }) => sum + kFour + Math.ceil(uniforms.length / kFour) * kFour,
    0,
  );
}
