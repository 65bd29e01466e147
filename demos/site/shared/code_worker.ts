// Runs a visitor's module, and sends its output to the page.

import type { FromCode, Line, Point } from "./code_messages.js";
import { CodeError, importCode } from "./code_module.js";
import { printed } from "./printed.js";

// An endless loop must not fill the page's memory: the number of lines per message is limited, and the rest is only counted.
const kFlushMs = 50;
const kMostAtOnce = 400;

let lines: Line[] = [];
let points: Point[] = [];
let leftOut = 0;
let flushAt = 0;

function post(message: FromCode): void {
  self.postMessage(message);
}

function print(kind: Line["kind"], values: readonly unknown[]): void {
  if (lines.length < kMostAtOnce) lines.push({ kind, text: values.map(printed).join(" ") });
  else leftOut++;
  flushWhenDue();
}

function plot(x: number, y: number): void {
  if (points.length < kMostAtOnce) points.push([Number(x), Number(y)]);
  flushWhenDue();
}

// Synchronous code does not return to the event loop, so calls send the output when it is due; a timer sends the remaining output.
function flushWhenDue(): void {
  const now = performance.now();
  if (now >= flushAt) flush();
  else if (lines.length + points.length === 1) setTimeout(flush, kFlushMs);
}

function flush(): void {
  if (lines.length + points.length === 0) return;
  if (leftOut > 0) lines.push({ kind: "warning", text: `(${leftOut} more lines omitted)` });
  post({ lines, points });
  [lines, points, leftOut] = [[], [], 0];
  flushAt = performance.now() + kFlushMs;
}

async function run(code: string): Promise<void> {
  try {
    await importCode(code);
  } catch (error) {
    print("error", [textOf(error)]);
  }
  flush();
  post("ended");
}

function textOf(error: unknown): string {
  if (!(error instanceof CodeError)) return printed(error);
  const { line, cause } = error;
  return line === null ? printed(cause) : `line ${line}: ${printed(cause)}`;
}

Object.assign(console, {
  log: (...values: unknown[]) => print("log", values),
  info: (...values: unknown[]) => print("log", values),
  warn: (...values: unknown[]) => print("warning", values),
  error: (...values: unknown[]) => print("error", values),
});
Object.assign(globalThis, { plot });

self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  print("error", [event.reason]);
});
self.addEventListener("error", (event) => {
  event.preventDefault();
  print("error", [event.error ?? event.message]);
});
self.addEventListener("message", (event: MessageEvent<{ code: string }>) => {
  if (typeof event.data?.code === "string") void run(event.data.code);
});
