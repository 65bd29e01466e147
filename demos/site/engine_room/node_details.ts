// The details of one node.

import { linesOf } from "./layout_text.js";
import type { Recording } from "./recording.js";
import type { Timeline } from "./timeline.js";

/** Fills a <dl> with the details of a node. */
export function showDetails(
  title: HTMLElement,
  list: HTMLElement,
  { nodes, edges }: Recording,
  timeline: Timeline,
  id: number,
): void {
  const node = nodes[id];
  if (node === undefined) return;
  title.textContent = node.name;
  const rows: [string, string][] = [];
  if (node.leaf !== null) rows.push(["adds to", `${node.leaf.name}, ${node.leaf.kind}`]);
  rows.push([
    "sequenceNr",
    node.sequenceNr === null ? "the highest: runs immediately" : `${node.sequenceNr}`,
  ]);
  rows.push(["topologicalNr", `${node.topologicalNr} to the farthest leaf`]);
  rows.push(["gradient in", node.gradients.join(", ") || "–"]);
  const targets = edges.filter(({ from }) => from === id).map(({ to }) => nodes[to]);
  rows.push([
    "gradients to",
    targets.map((target) => (target?.leaf ? target.leaf.name : target?.name)).join(", ") ||
      "no node: this is a leaf",
  ]);
  for (const { name, value, preview } of node.saved) {
    rows.push([`saved.${name}`, preview === "" ? value : `${value}\n${preview}`]);
  }
  for (const run of timeline.runsOf(id)) {
    const { device, thread, start, duration, deviceDuration, ready } = run;
    const onDevice = deviceDuration === null ? "" : `, ${micro(deviceDuration)} on the device`;
    rows.push([
      `${device} thread ${thread}`,
      `from ${micro(start)}, for ${micro(duration)}${onDevice}; waited ${micro(start - ready)}`,
    ]);
  }
  list.replaceChildren(...rows.map(row));
  list.setAttribute("aria-label", linesOf(node).join(" "));
}

function row([name, value]: [string, string]): HTMLElement {
  const group = document.createElement("div");
  const term = document.createElement("dt");
  term.textContent = name;
  const description = document.createElement("dd");
  description.textContent = value;
  group.append(term, description);
  return group;
}

function micro(ms: number): string {
  return `${(ms * 1000).toFixed(ms < 0.01 ? 1 : 0)} µs`;
}
