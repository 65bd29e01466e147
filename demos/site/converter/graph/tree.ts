// The nodes of a model as a tree that can be folded. A group is always a run of neighbors in the order of the file, in which every
// node comes behind those that it depends on, so that the graph of folded groups has no cycles either.

import type { OnnxNode } from "edgegrad/onnx";

/** A run of nodes, from `start` to before `end`; one node, if it has no parts. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly parts: readonly Group[];
}

/** The most boxes that a group is opened into; more are put into ranges. */
const kMostParts = 80;

/** Returns the groups of a model, by the words of the nodes' names: "/layer1/conv1/Conv" is in conv1 in layer1. */
export function treeOf(nodes: readonly OnnxNode[]): Group {
  const paths = nodes.map(({ name }) => name.split(/[/.]/).filter(Boolean).slice(0, -1));
  return {
    id: "",
    name: "model",
    start: 0,
    end: nodes.length,
    parts: partsOf(paths, nodes, 0, nodes.length, 0),
  };
}

function partsOf(
  paths: readonly (readonly string[])[],
  nodes: readonly OnnxNode[],
  start: number,
  end: number,
  depth: number,
): Group[] {
  const parts: Group[] = [];
  // Constants have no boxes: they are shown where they are read, as stored tensors are.
  const isConstant = (i: number) => nodes[i]?.op === "Constant";
  for (let i = start; i < end; ) {
    const word = paths[i]?.[depth];
    let next = i + 1;
    if (isConstant(i)) {
      i = next;
      continue;
    }
    const isInside = (at: number) => isConstant(at) || paths[at]?.[depth] === word;
    while (word !== undefined && next < end && isInside(next)) next++;
    const inner = next - i > 1 ? partsOf(paths, nodes, i, next, depth + 1) : [];
    // A group of one group is that group.
    const [only] = inner;
    if (inner.length === 1 && only !== undefined) {
      parts.push({ ...only, name: only.parts.length > 0 ? `${word}/${only.name}` : only.name });
    } else {
      const name = inner.length === 0 ? (nodes[i]?.op ?? "") : (word ?? "");
      parts.push({ id: `${i}-${next}`, name, start: i, end: next, parts: inner });
    }
    i = next;
  }
  return inRanges(parts);
}

function inRanges(parts: readonly Group[]): Group[] {
  if (parts.length <= kMostParts) return [...parts];
  // As many levels as are needed, with ranges of about the same number of parts in each.
  const levels = Math.ceil(Math.log(parts.length) / Math.log(kMostParts));
  const size = Math.ceil(parts.length ** ((levels - 1) / levels));
  const ranges: Group[] = [];
  for (let i = 0; i < parts.length; i += size) {
    const inside = parts.slice(i, i + size);
    const start = inside[0]?.start ?? 0;
    const end = inside.at(-1)?.end ?? start;
    ranges.push({
      id: `${start}-${end}`,
      name: `nodes ${start + 1} to ${end}`,
      start,
      end,
      parts: inRanges(inside),
    });
  }
  return ranges;
}

/** Returns the groups whose parts are shown at first: all, if that is few enough boxes, otherwise those nearest to the root. */
export function openAtFirst(root: Group, most: number): Set<string> {
  const open = new Set([root.id]);
  let count = root.parts.length;
  let level = root.parts;
  while (level.length > 0) {
    const groups = level.filter(({ parts }) => parts.length > 0);
    const added = groups.reduce((sum, { parts }) => sum + parts.length - 1, 0);
    if (count + added > most) break;
    for (const { id } of groups) open.add(id);
    count += added;
    level = groups.flatMap(({ parts }) => parts);
  }
  return open;
}

/** Returns the groups and nodes that are to be seen, in order. */
export function visible(root: Group, open: ReadonlySet<string>): Group[] {
  return root.parts.flatMap((part) =>
    part.parts.length > 0 && open.has(part.id) ? visible(part, open) : [part],
  );
}

/** Returns the group in which a box lies; null for the root. */
export function parentOf(root: Group, { start, end, id }: Group): Group | null {
  let group = root;
  for (;;) {
    const inner = group.parts.find((part) => part.start <= start && part.end >= end);
    if (inner === undefined || inner.id === id) return group === root ? null : group;
    group = inner;
  }
}
