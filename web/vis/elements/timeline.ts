// Lanes of events over time, one per thread, as SVG.

import type { StepEvent } from "../profile/step_profile.js";
import { svg } from "./dom.js";

const kWidth = 660;
const kLane = 26;
const kBar = 20;
const kAxis = 22;
const kLeastWidth = 1;
const kMarks = 4;
/** The approximate width of a character. */
const kCharacter = 7.5;

/** The style sheet of timelines. */
export const kTimelineStyle = `
.lanes { inline-size: 100%; min-inline-size: 560px; block-size: auto; display: block; font-size: 12px; }
.lanes text { fill: var(--text); }
.lanes .mark { fill: var(--dim); }
.lanes line { stroke: var(--line); }
.lanes .forward { fill: color-mix(in srgb, var(--series-1) 45%, var(--surface)); }
.lanes .backward { fill: color-mix(in srgb, var(--series-2) 45%, var(--surface)); }
.lanes .other { fill: color-mix(in srgb, var(--dim) 45%, var(--surface)); }
`;

/** Returns a drawing of events in lanes; the tooltip of an event has its name, layer and duration. */
export function lanesOf(events: readonly StepEvent[], label: string): SVGSVGElement {
  const threads = [...new Set(events.map(({ thread }) => thread))];
  const end = Math.max(...events.map(({ start, duration }) => start + duration));
  const first = Math.min(...events.map(({ start }) => start));
  const left = 80;
  const x = (time: number) => left + ((time - first) / (end - first || 1)) * (kWidth - left);
  const height = threads.length * kLane + kAxis;
  const picture = svg("svg", {
    viewBox: `0 0 ${kWidth} ${height}`,
    class: "lanes",
    role: "img",
    "aria-label": label,
  });
  for (let i = 0; i <= kMarks; i++) {
    const time = first + ((end - first) * i) / kMarks;
    const anchor = i === kMarks ? "end" : "middle";
    const y = height - 6;
    picture.append(
      svg("line", { x1: x(time), x2: x(time), y1: 0, y2: height - kAxis }),
      svg("text", { x: x(time), y, class: "mark", "text-anchor": anchor }, `${time.toFixed(1)} ms`),
    );
  }
  threads.forEach((thread, lane) => {
    const y = lane * kLane;
    picture.append(svg("text", { x: 0, y: y + 17 }, thread));
    for (const event of events) if (event.thread === thread) picture.append(barOf(event, x, y));
  });
  return picture;
}

function barOf(event: StepEvent, x: (time: number) => number, y: number): SVGGElement {
  const { name, layer, phase, start, duration } = event;
  const [from, to] = [x(start), x(start + duration)];
  const width = Math.max(kLeastWidth, to - from);
  const told = `${name}${layer && `, layer ${layer}`}: ${duration.toFixed(3)} ms`;
  const bar = svg("rect", { x: from, y: y + 2, width, height: kBar, rx: 2, class: phase });
  const group = svg("g", {}, svg("title", {}, told), bar);
  const room = Math.floor((width - 6) / kCharacter);
  if (room >= name.length) group.append(svg("text", { x: from + 3, y: y + 16 }, name));
  return group;
}
