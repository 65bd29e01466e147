// The parts of a drawn graph; shared/graph/graph.css has their look.

import { svg } from "../svg.js";
import "./graph.css";
import type { Box, Layout, Point } from "./layout.js";

/** The options of a box. */
export interface BoxOptions {
  /** At most two. */
  readonly lines: readonly [string, string];
  /** Classes besides "node". */
  readonly kind?: string;
  readonly isRound?: boolean;
  readonly label?: string;
}

/** Returns a drawing with its edges, to which the boxes are added. */
export function drawing({ width, height, edges }: Layout, label: string): SVGSVGElement {
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    style: `--width: ${Math.round(width)}px`,
    role: "group",
    "aria-label": label,
  });
  picture.append(arrowHead(), ...edges.map(edge));
  return picture;
}

/** Returns a box that can be pressed. */
export function box(
  { x, y, width, height }: Box,
  { lines: [first, second], kind = "", isRound = false, label }: BoxOptions,
): SVGGElement {
  const group = svg("g", {
    class: `node ${kind}`.trim(),
    transform: `translate(${x - width / 2} ${y - height / 2})`,
    tabindex: 0,
    role: "button",
    "aria-label": label ?? `${first} ${second}`,
  });
  group.append(svg("rect", { width, height, rx: isRound ? height / 2 : 8 }));
  const middle = second === "" ? height / 2 + 4 : height / 2 - 4;
  // The space makes the visible text equal to the label for screen readers.
  group.append(
    text(first, width / 2, middle, "name"),
    " ",
    text(second, width / 2, height / 2 + 12, "detail"),
  );
  return group;
}

function text(content: string, x: number, y: number, name: string): SVGTextElement {
  const element = svg("text", { x, y, class: name, "text-anchor": "middle" });
  element.textContent = content;
  return element;
}

function arrowHead(): SVGDefsElement {
  const definitions = svg("defs");
  const marker = svg("marker", {
    id: "arrow",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerUnits: "userSpaceOnUse",
    markerWidth: 9,
    markerHeight: 9,
    orient: "auto",
  });
  marker.append(svg("path", { d: "M0 0L8 4L0 8z", class: "arrow" }));
  definitions.append(marker);
  return definitions;
}

// A curve through the midpoints of the line's segments, with its corners as control points.
function edge(points: readonly Point[]): SVGPathElement {
  const [first, ...rest] = points as [Point, ...Point[]];
  const last = rest.at(-1) ?? first;
  const curves = rest.slice(0, -1).map((corner, i) => {
    const next = rest[i + 1] as Point;
    const isLast = i === rest.length - 2;
    const end = isLast ? next : { x: (corner.x + next.x) / 2, y: (corner.y + next.y) / 2 };
    return `Q${corner.x} ${corner.y} ${end.x} ${end.y}`;
  });
  const d = `M${first.x} ${first.y}${curves.join("") || `L${last.x} ${last.y}`}`;
  return svg("path", { d, class: "edge", "marker-end": "url(#arrow)" });
}
