// Shows for each thread the running node, the nodes in its queue, and a picture of the whole recording.

import { svg } from "../shared/svg.js";
import { laneColor } from "./lane_color.js";
import type { GraphNode } from "./recording.js";
import { type Lane, stateOf, type TimedRun, type Timeline } from "./timeline.js";

// In units of the picture, which is stretched to the width of the page.
const kWidth = 1000;
const kBarHeight = 26;
const kQueueHeight = 30;
const kMostChips = 12;

export class LanesView {
  readonly #element: HTMLElement;
  readonly #choose: (node: number) => void;
  #lanes: { lane: Lane; now: HTMLElement; cursor: SVGLineElement; shown: string }[] = [];

  /** `choose` is called with the node under the pointer. */
  constructor(element: HTMLElement, choose: (node: number) => void) {
    this.#element = element;
    this.#choose = choose;
  }

  draw(timeline: Timeline, nodes: readonly GraphNode[]): void {
    this.#lanes = timeline.lanes.map((lane) => {
      const now = document.createElement("div");
      now.className = "now";
      const cursor = svg("line", { y1: 0, y2: kBarHeight + kQueueHeight, class: "cursor" });
      return { lane, now, cursor, shown: "" };
    });
    const rows = this.#lanes.map(({ lane, now, cursor }, i) => {
      const row = document.createElement("section");
      row.className = "lane";
      row.style.setProperty("--lane", laneColor(i));
      const title = document.createElement("h3");
      title.textContent = lane.title;
      row.append(title, now, this.#picture(timeline, lane, nodes, cursor));
      return row;
    });
    this.#element.replaceChildren(...rows);
  }

  show(timeline: Timeline, nodes: readonly GraphNode[], time: number): void {
    const x = String((time / timeline.end) * kWidth);
    for (const row of this.#lanes) {
      row.cursor.setAttribute("x1", x);
      row.cursor.setAttribute("x2", x);
      const running = row.lane.runs.filter((run) => stateOf(run, time) === "running");
      const queue = timeline.queueOf(row.lane, time);
      const shown = `${running.map(({ node }) => node)}|${queue.map(({ node }) => node)}`;
      if (row.shown === shown) continue;
      row.shown = shown;
      row.now.replaceChildren(...chips(running, "running", nodes), ...chips(queue, "ready", nodes));
      if (running.length + queue.length === 0) row.now.textContent = "idle, queue empty";
    }
  }

  #picture(
    timeline: Timeline,
    lane: Lane,
    nodes: readonly GraphNode[],
    cursor: SVGLineElement,
  ): SVGSVGElement {
    const picture = svg("svg", {
      viewBox: `0 0 ${kWidth} ${kBarHeight + kQueueHeight}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${lane.title}: ${lane.runs.length} nodes over time, and the length of its queue`,
    });
    const scale = kWidth / timeline.end;
    picture.append(svg("path", { class: "queue", d: queueShape(timeline, lane, scale) }));
    for (const run of lane.runs) {
      const bar = svg("rect", {
        x: run.start * scale,
        width: Math.max(1, run.duration * scale),
        height: kBarHeight,
        class: "bar",
      });
      const title = svg("title");
      title.textContent = nodes[run.node]?.name ?? "";
      bar.append(title);
      bar.addEventListener("pointerenter", () => this.#choose(run.node));
      picture.append(bar);
    }
    picture.append(cursor);
    return picture;
  }
}

function chips(
  runs: readonly TimedRun[],
  state: string,
  nodes: readonly GraphNode[],
): HTMLElement[] {
  const shown = runs.slice(0, kMostChips).map(({ node }) => {
    const { name = "", leaf = null } = nodes[node] ?? {};
    return chip(leaf === null ? name : `${name} ${leaf.name}`, state);
  });
  const left = runs.length - shown.length;
  return left === 0 ? shown : [...shown, chip(`and ${left} more`, state)];
}

function chip(text: string, state: string): HTMLElement {
  const element = document.createElement("span");
  element.className = "chip";
  element.dataset.state = state;
  element.textContent = text;
  return element;
}

// The length of the queue over time, as an area below the bars.
function queueShape(timeline: Timeline, lane: Lane, scale: number): string {
  const moments = [...new Set([...timeline.moments, ...lane.runs.map(({ ready }) => ready)])];
  moments.sort((a, b) => a - b);
  const lengths = moments.map((time) => timeline.queueOf(lane, time).length);
  const unit = (kQueueHeight - 4) / Math.max(1, ...lengths);
  const top = kBarHeight + 4;
  const steps = moments.map((time, i) => {
    const y = top + (lengths[i] ?? 0) * unit;
    return `L${time * scale} ${i === 0 ? top : top + (lengths[i - 1] ?? 0) * unit}L${time * scale} ${y}`;
  });
  return `M0 ${top}${steps.join("")}L${timeline.end * scale} ${top}Z`;
}
