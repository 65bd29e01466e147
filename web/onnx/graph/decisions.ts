// The conditions of branches. A captured function cannot read values that may differ between its calls, but it can take the branch that
// was taken just before, if the condition depends only on tensors that are still the same: capture() runs a function once before it
// records it.

import * as eg from "edgegrad";
import { Host } from "../values/host.js";
import { host, type Value } from "../values/value.js";
import { readBy } from "./analyze.js";
import type { Step, Subgraph } from "./program.js";

interface Source {
  readonly tensor: WeakRef<eg.Tensor>;
  readonly version: number;
}

interface Decision {
  readonly sources: readonly Source[];
  readonly value: Host<number>;
}

const known = new WeakMap<Step, Decision>();

/** Returns the condition of a branch as a number in JavaScript. */
export function decide(graph: Subgraph, step: Step, value: Value, frame: readonly Value[]): Value {
  if (!(value instanceof eg.Tensor)) return value;
  const leaves = leavesOf(graph, step);
  const tensors = leaves?.map((slot) => frame[slot]).filter((value) => value instanceof eg.Tensor);
  try {
    const read = host(value);
    if (tensors !== undefined) known.set(step, { sources: tensors.map(sourceOf), value: read });
    return read;
  } catch (error) {
    const before = known.get(step);
    const isSame =
      tensors?.length === before?.sources.length &&
      tensors?.every((tensor, i) => isUnchanged(tensor, before?.sources[i] as Source));
    if (before === undefined || !isSame) throw error;
    return new Host("bool", [], before.value.data);
  }
}

const sourceOf = (tensor: eg.Tensor): Source => ({
  tensor: new WeakRef(tensor),
  version: versionOf(tensor),
});

const isUnchanged = (source: eg.Tensor, { tensor, version }: Source) =>
  tensor.deref() === source && version >= 0 && versionOf(source) === version;

// A tensor of inference mode has no version.
function versionOf(tensor: eg.Tensor): number {
  try {
    return tensor.version;
  } catch {
    return -1;
  }
}

const foundLeaves = new WeakMap<Step, readonly number[] | null>();

// The slots that a condition depends on and that no step writes; undefined if it depends on random numbers or on the turn of a loop.
function leavesOf(graph: Subgraph, step: Step): readonly number[] | undefined {
  let found = foundLeaves.get(step);
  if (found === undefined) {
    found = searched(graph, step.inputs[0] ?? -1);
    foundLeaves.set(step, found);
  }
  return found ?? undefined;
}

function searched(graph: Subgraph, condition: number): readonly number[] | null {
  const makers = new Map<number, Step>();
  const turns = new Set<number>();
  const scan = ({ steps }: Subgraph) => {
    for (const step of steps) {
      for (const slot of step.outputs) makers.set(slot, step);
      for (const inner of step.graphs) {
        for (const slot of inner.inputs) turns.add(slot);
        scan(inner);
      }
    }
  };
  scan(graph);
  const leaves = new Set<number>();
  const seen = new Set([condition]);
  for (const slot of seen) {
    const maker = makers.get(slot);
    if (turns.has(slot)) return null;
    if (maker === undefined) {
      leaves.add(slot);
      continue;
    }
    const read = readBy(maker);
    if (read.length === 0) return null;
    for (const slot of read) seen.add(slot);
  }
  return [...leaves];
}
