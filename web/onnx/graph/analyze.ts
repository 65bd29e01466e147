// Liveness: which steps the outputs of a graph need, and when its slots are free.

import type { Step, Subgraph } from "./program.js";

/** Removes the steps that no output depends on. */
export function removeUnused(graph: Subgraph): void {
  const needed = new Set(graph.outputs);
  const kept: Step[] = [];
  for (const step of [...graph.steps].reverse()) {
    if (!step.outputs.some((slot) => needed.has(slot))) continue;
    kept.push(step);
    for (const slot of readBy(step)) needed.add(slot);
  }
  graph.steps = kept.reverse();
}

/** Determines after which step each slot is free. */
export function noteReleases(graph: Subgraph): void {
  const later = new Set(graph.outputs);
  const own = new Set(graph.steps.flatMap((step) => step.outputs));
  for (const step of [...graph.steps].reverse()) {
    const last = [...readBy(step), ...step.outputs].filter(
      (slot) => own.has(slot) && !later.has(slot),
    );
    step.release = [...new Set(last)];
    for (const slot of last) later.add(slot);
    for (const inner of step.graphs) noteReleases(inner);
  }
}

/** Returns the slots that a step reads, including those that its inner graphs read from the graphs around them. */
export function readBy({ inputs, graphs }: Step): number[] {
  return [...inputs, ...graphs.flatMap(readFromOutside)].filter((slot) => slot >= 0);
}

// Cached by the steps of a graph: otherwise each nested graph would be searched once for every graph around it.
const outside = new WeakMap<readonly Step[], readonly number[]>();

function readFromOutside({ inputs, outputs, steps }: Subgraph): readonly number[] {
  let found = outside.get(steps);
  if (found === undefined) {
    const own = new Set([...inputs, ...steps.flatMap((step) => step.outputs)]);
    const read = new Set([...outputs, ...steps.flatMap(readBy)]);
    found = [...read].filter((slot) => !own.has(slot));
    outside.set(steps, found);
  }
  return found;
}

/** How the steps of a graph use a slot. */
export interface Uses {
  /** At least one step computes with it. */
  isRead: boolean;
  /** All steps that read it use it as a setting. */
  isSetting: boolean;
  /** All steps that read it update it in training. */
  isUpdated: boolean;
}

/** Returns how each slot is used. */
export function usesOf(graph: Subgraph, found = new Map<number, Uses>()): Map<number, Uses> {
  const note = (slot: number, isSetting: boolean, isUpdated: boolean) => {
    if (slot < 0) return;
    const uses = found.get(slot) ?? { isRead: true, isSetting: true, isUpdated: true };
    uses.isSetting &&= isSetting;
    uses.isUpdated &&= isUpdated;
    found.set(slot, uses);
  };
  for (const { op, inputs, graphs } of graph.steps) {
    inputs.forEach((slot, i) => {
      note(slot, op.settings?.includes(i) ?? false, op.updates?.includes(i) ?? false);
    });
    for (const inner of graphs) usesOf(inner, found);
  }
  for (const slot of graph.outputs) note(slot, false, false);
  return found;
}
