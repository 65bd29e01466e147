// terminalChart(): scalars of a log as a text chart.

import { fail, refuse } from "../errors/errors.js";
import { linesOf } from "./log/lines.js";
import { RunLog } from "./log/run_log.js";
import { nodeProcess } from "./writers/node.js";

/** Options of `terminalChart`. */
export interface TerminalChartOptions {
  /** The tags to draw; default: all. */
  tags?: readonly string[];
  /** The runs to draw; default: all. */
  runs?: readonly string[];
  /** The weight of the exponential moving average, from 0 (no smoothing, the default) to below 1. */
  smoothing?: number;
  /** The width of the chart in columns; default: that of the terminal, or 80. */
  width?: number;
  /** The height of the chart in rows; default 12. */
  height?: number;
  /** Whether lines have colors; default: whether the output is a terminal. */
  colors?: boolean;
}

const kMost = 1000;
const kLeast = 20;

/** Returns a text chart of scalars of a log. */
export async function terminalChart(
  log: RunLog,
  options: TerminalChartOptions = {},
): Promise<string> {
  const where = "terminalChart";
  if (!(log instanceof RunLog)) refuse(where, "log", "a RunLog", log);
  const output = nodeProcess()?.stdout;
  const { tags = null, runs = null, smoothing = 0, height = 12 } = options;
  const { width = output?.columns ?? 80, colors = output?.isTTY === true } = options;
  if (!(smoothing >= 0 && smoothing < 1))
    refuse(where, "smoothing", "a number from 0 to below 1", smoothing);
  if (!Number.isInteger(width) || width < kLeast || width > kMost)
    refuse(where, "width", `an integer, ${kLeast} to ${kMost}`, width);
  if (!Number.isInteger(height) || height < 2 || height > kMost)
    refuse(where, "height", `an integer from 2 to ${kMost}`, height);
  const lines = linesOf(log, tags, runs).filter(({ points }) =>
    [...points.values()].some(Number.isFinite),
  );
  if (lines.length === 0)
    return fail(
      "InvalidArgument",
      where,
      "the log has no finite scalars with these tags and runs.",
    );
  const { drawChart } = await import("./terminal/chart.js");
  return drawChart(lines, { width, height, smoothing, colors });
}
