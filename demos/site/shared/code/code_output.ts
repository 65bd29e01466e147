// What a visitor's code prints, plots and records, on its way to the page.

import { Tensor } from "edgegrad";
import { printed } from "../printed.js";
import type { FromCode, Line, Point, Recorded, Table } from "./code_messages.js";

// An endless loop must not fill the page's memory: few messages are sent at once, the number of lines in one is limited, and the rest is
// only counted.
const kFlushMs = 50;
const kMessagesAtOnce = 8;
const kMostAtOnce = 400;
const kMostCells = 400;

let lines: Line[] = [];
let points: Point[] = [];
let records: Recorded[] = [];
let leftOut = 0;
let sent = 0;
let nextAt = 0;

/** Sends a message to the page. */
export function post(message: FromCode): void {
  self.postMessage(message);
}

/** Prints values; `at` is the line of the code that threw them, where that is known. */
export function print(kind: Line["kind"], values: readonly unknown[], at?: number | null): void {
  const table = values.length === 1 ? tableOf(values[0]) : null;
  printLine({
    kind,
    text: values.map(printed).join(" "),
    ...(table && { table }),
    ...(at && { at }),
  });
}

/** Prints a line. */
export function printLine(line: Line): void {
  if (lines.length < kMostAtOnce) lines.push(line);
  else leftOut++;
  flushWhenDue();
}

/** Adds a point to the chart. */
export function plot(x: number, y: number): void {
  if (points.length < kMostAtOnce) points.push([Number(x), Number(y)]);
  flushWhenDue();
}

/** Sends a record of a log. */
export function record(one: Recorded): void {
  if (records.length < kMostAtOnce) records.push(one);
  flushWhenDue();
}

// The numbers of a small vector or matrix.
function tableOf(value: unknown): Table | null {
  if (!(value instanceof Tensor) || value.disposed || value.isSparse || value.device !== "cpu")
    return null;
  const { shape, dtype, numel, ndim } = value;
  if (ndim < 1 || ndim > 2 || numel === 0 || numel > kMostCells) return null;
  const numbers = value
    .detach()
    .reshape([-1, shape.at(-1) ?? 1])
    .arraySync() as unknown[][];
  const rows = numbers.map((row) => row.map(cellText));
  return { title: `${dtype} [${shape.join(", ")}]`, rows };
}

function cellText(value: unknown): string {
  return typeof value === "number" ? String(Number(value.toPrecision(5))) : printed(value);
}

// Synchronous code does not return to the event loop, so calls send the output: the first at once, so that a line is there while the code
// computes, and more of them when they are due. A timer sends the remaining output.
function flushWhenDue(): void {
  const now = performance.now();
  if (now >= nextAt) [sent, nextAt] = [0, now + kFlushMs];
  if (sent < kMessagesAtOnce) flush();
  else if (lines.length + points.length + records.length === 1) setTimeout(flush, kFlushMs);
}

/** Sends what has not been sent. */
export function flush(): void {
  if (lines.length + points.length + records.length === 0) return;
  if (leftOut > 0) lines.push({ kind: "warning", text: `(${leftOut} more lines omitted)` });
  post({ lines, points, records });
  [lines, points, records, leftOut] = [[], [], [], 0];
  sent++;
}
