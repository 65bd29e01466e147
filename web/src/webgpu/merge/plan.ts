// Which dispatches of a recording run as one: those that do not depend on each other, although they need not follow each other.

import type { Block } from "../blocks";
import type { Dispatch, WrittenDispatch } from "../recorder";
import { type Access, canBeAccessedTogether } from "../shader";
import { withSharedWorkgroup, workgroupBytes } from "./workgroup";

/** Dispatches that run together, in the order in which they were recorded. */
export interface Group {
  readonly given: readonly WrittenDispatch[];
  /** The same for a workgroup that they can share. */
  readonly parts: readonly WrittenDispatch[];
}

/** What a merged dispatch can have. */
export interface MergeLimits {
  /** Storage buffers. */
  readonly buffers: number;
  /** Bytes of uniforms. */
  readonly uniformBytes: number;
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
}

/** More parts would make shaders that are slow to compile, and branches for every workgroup. */
const kMaxParts = 4;
/** A dispatch with more workgroups keeps a GPU busy by itself. */
const kMaxWorkgroups = 4096;

interface Planned extends Group {
  readonly given: WrittenDispatch[];
  parts: readonly WrittenDispatch[];
  readonly level: number;
}

/**
 * Divides dispatches into groups, in an order in which every group may depend on earlier ones only. `write` writes the uniforms of
 * a dispatch.
 */
export function planGroups(
  dispatches: readonly WrittenDispatch[],
  limits: MergeLimits,
  write: (dispatch: Dispatch) => WrittenDispatch,
): Group[] {
  const levels = levelsOf(dispatches);
  const groups: Planned[] = [];
  const open = new Map<number, Planned[]>();
  for (const [i, dispatch] of dispatches.entries()) {
    const level = levels[i] as number;
    const candidates = open.get(level) ?? [];
    open.set(level, candidates);
    const joins = (group: Planned) => {
      const parts = fit([...group.parts, dispatch], limits, write);
      if (parts === undefined) return false;
      group.given.push(dispatch);
      group.parts = parts;
      return true;
    };
    if (isSmall(dispatch) && candidates.some(joins)) continue;
    const group = { given: [dispatch], parts: [dispatch], level };
    groups.push(group);
    if (isSmall(dispatch)) candidates.push(group);
  }
  return groups.sort((a, b) => a.level - b.level);
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

// Returns the parts for a workgroup that they can share, if one shader can be made of them.
function fit(
  parts: readonly WrittenDispatch[],
  limits: MergeLimits,
  write: (dispatch: Dispatch) => WrittenDispatch,
): WrittenDispatch[] | undefined {
  const memory = parts.flatMap(({ source }) => source.memory);
  if (parts.length > kMaxParts || !fitBuffers(memory, limits.buffers)) return undefined;
  if (mergedBytes(parts) > limits.uniformBytes) return undefined;
  const shared = withSharedWorkgroup(parts, write);
  return shared && workgroupBytes(shared) <= limits.workgroupBytes ? shared : undefined;
}

/** Whether one shader can access all this memory, with at most this many buffers. */
export function fitBuffers(memory: readonly Access[], buffers: number): boolean {
  const bound = new Set(
    memory.map(({ view: { block, window } }) => `${block.id} ${window?.offset}`),
  );
  return bound.size <= buffers && canBeAccessedTogether(memory);
}

/** The bytes of a vector of four numbers; the uniforms of a part are padded to a multiple. */
export const kFour = 16;

/** Returns the bytes of the uniforms of a merged dispatch: a vector for each part, then those of the parts. */
export function mergedBytes(parts: readonly WrittenDispatch[]): number {
  return parts.reduce(
    (sum, { uniforms }) => sum + kFour + Math.ceil(uniforms.length / kFour) * kFour,
    0,
  );
}
