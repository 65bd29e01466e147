// Draws lines with characters, by simple-ascii-chart.

import { type Color, type Point, plot } from "simple-ascii-chart";
import { type Line, smooth, stepsOf, valuesAt } from "../log/lines.js";

const kColors: readonly Color[] = [
  ...(["ansiBlue", "ansiRed", "ansiGreen", "ansiMagenta", "ansiCyan", "ansiYellow"] as const),
];
/** The maximum width of the y axis: its labels and its arrow. */
const kBeside = 12;

/** The look of a chart. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly smoothing: number;
  readonly colors: boolean;
}

/** Returns a text chart of lines, with a legend below. */
export function drawChart(
  lines: readonly Line[],
  { width, height, smoothing, colors }: Look,
): string {
  const steps = stepsOf(lines);
  const series = lines.map((line) => {
    const values = smooth(valuesAt(line, steps), smoothing);
    return steps.flatMap((step, i): Point[] => (values[i] == null ? [] : [[step, values[i]]]));
  });
  const names = lines.map(({ label }, i) => `${label} ${short(series[i]?.at(-1)?.[1] ?? 0)}`);
  const chart = plot(series, {
    width: width - kBeside,
    height,
    hideXAxisTicks: true,
    formatter: (value) => short(value),
    legend: { position: "bottom", series: names },
    xLabel: `step ${steps[0]} to ${steps.at(-1)}`,
    ...(colors && { color: lines.map((_, i) => kColors[i % kColors.length] as Color) }),
  });
  return chart
    .split("\n")
    .map((row) => row.trimEnd())
    .filter((row) => row !== "")
    .join("\n");
}

function short(value: number): string {
  const text = String(Number(value.toPrecision(3)));
  return text.length > kBeside - 2 ? value.toExponential(2) : text;
}
