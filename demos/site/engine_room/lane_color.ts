/** The color of a lane, a token of style.css. */
export function laneColor(lane: number): string {
  return `var(--series-${(lane % 4) + 1})`;
}
