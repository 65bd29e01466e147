// Runs a visitor's module. Its text becomes a module of its own, a blob: that takes no eval, and `import` and top-level
// `await` work as anywhere. A blob cannot resolve the name "edgegrad" (a worker has no import map, and a built site no file
// of that name), so the name is replaced by the address of a second blob that exports this worker's engine.

import * as eg from "edgegrad";
import type { FromCode, Line, Point } from "./code_messages.js";
import { printed } from "./printed.js";

const kEngineKey = "edgegradOfThisWorker";
// A loop that never ends must not fill the page's memory: so much is told at once, and the rest is counted.
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

// Synchronous code never returns to the event loop, so a call sends what is due; a timer sends what the last calls left.
function flushWhenDue(): void {
  const now = performance.now();
  if (now >= flushAt) flush();
  else if (lines.length + points.length === 1) setTimeout(flush, kFlushMs);
}

function flush(): void {
  if (lines.length + points.length === 0) return;
  if (leftOut > 0) lines.push({ kind: "warning", text: `(${leftOut} more lines left out)` });
  post({ lines, points });
  [lines, points, leftOut] = [[], [], 0];
  flushAt = performance.now() + kFlushMs;
}

function moduleAddress(text: string): string {
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

// Exports under every name of the engine, also those that are reserved words.
function engineModule(): string {
  Object.assign(globalThis, { [kEngineKey]: eg });
  const names = Object.keys(eg);
  const taken = names.map((name, i) => `${name}: $${i}`).join(", ");
  const given = names.map((name, i) => `$${i} as ${name}`).join(", ");
  return `const { ${taken} } = globalThis.${kEngineKey};\nexport { ${given} };`;
}

function withEngine(code: string): string {
  const engine = JSON.stringify(moduleAddress(engineModule()));
  return code.replace(
    /(\bfrom\s*|\bimport\s*\(?\s*)(["'])edgegrad\2/g,
    (_, start) => start + engine,
  );
}

async function run(code: string): Promise<void> {
  const address = moduleAddress(withEngine(code));
  try {
    await import(/* @vite-ignore */ address);
  } catch (error) {
    print("error", [textOf(error, address)]);
  }
  flush();
  post("ended");
}

// With the line of the visitor's text: replacing the import moved no line.
function textOf(error: unknown, address: string): string {
  const text = printed(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const line = stack.split(`${address}:`)[1]?.match(/^\d+/)?.[0];
  return line === undefined ? text : `line ${line}: ${text}`;
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
