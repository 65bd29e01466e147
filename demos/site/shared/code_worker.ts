// Runs a visitor's module, and sends its output to the page.

import { Tensor } from "edgegrad";
import type { ListenerHandle, RunLog } from "edgegrad/vis";
import type {
  CodeRequest,
  FromCode,
  Line,
  Point,
  Recorded,
  Table,
  ToCode,
} from "./code_messages.js";
import { CodeError, importCode } from "./code_module.js";
import { type Callable, paintingOf } from "./code_painting.js";
import { printed } from "./printed.js";

// An endless loop must not fill the page's memory: the number of lines per message is limited, and the rest is only counted.
const kFlushMs = 50;
const kMostAtOnce = 400;

let lines: Line[] = [];
let points: Point[] = [];
let records: Recorded[] = [];
let leftOut = 0;
let flushAt = 0;

function post(message: FromCode): void {
  self.postMessage(message);
}

function print(kind: Line["kind"], values: readonly unknown[], at?: number | null): void {
  if (lines.length < kMostAtOnce) {
    const text = values.map(printed).join(" ");
    const table = values.length === 1 ? tableOf(values[0]) : null;
    lines.push({ kind, text, ...(table && { table }), ...(at && { at }) });
  } else leftOut++;
  flushWhenDue();
}

function plot(x: number, y: number): void {
  if (points.length < kMostAtOnce) points.push([Number(x), Number(y)]);
  flushWhenDue();
}

const kMostCells = 400;

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

// What the code records in logs is sent to the page, which shows it.
const kListening = "edgegrad/vis";

function listening(entry: string, names: Readonly<Record<string, unknown>>) {
  if (entry !== kListening) return names;
  const { createLog } = names as { createLog: (...given: unknown[]) => RunLog };
  return {
    ...names,
    createLog: (...given: unknown[]): RunLog => {
      const log = createLog(...given);
      listen(log);
      return log;
    },
  };
}

function listen(log: RunLog): ListenerHandle {
  return log.listen((record, run) => {
    if (records.length < kMostAtOnce) records.push({ record, run });
    flushWhenDue();
  });
}

let shown = () => {};

// Resolves when the page has shown the picture, so that a model learns as fast as it can be watched.
function paint(model: Callable, points: Tensor, classes: Tensor): Promise<void> {
  const painting = paintingOf(model, points, classes);
  return new Promise((resolve) => {
    shown = resolve;
    post({ painting });
  });
}

// Synchronous code does not return to the event loop, so calls send the output when it is due; a timer sends the remaining output.
function flushWhenDue(): void {
  const now = performance.now();
  if (now >= flushAt) flush();
  else if (lines.length + points.length + records.length === 1) setTimeout(flush, kFlushMs);
}

function flush(): void {
  if (lines.length + points.length + records.length === 0) return;
  if (leftOut > 0) lines.push({ kind: "warning", text: `(${leftOut} more lines omitted)` });
  post({ lines, points, records });
  [lines, points, records, leftOut] = [[], [], [], 0];
  flushAt = performance.now() + kFlushMs;
}

async function run({ code, files = {} }: CodeRequest): Promise<void> {
  try {
    await importCode(code, { files, replace: listening });
  } catch (error) {
    if (error instanceof CodeError) print("error", [error.cause], error.line);
    else print("error", [error]);
  }
  flush();
  post("ended");
}

Object.assign(console, {
  log: (...values: unknown[]) => print("log", values),
  info: (...values: unknown[]) => print("log", values),
  warn: (...values: unknown[]) => print("warning", values),
  error: (...values: unknown[]) => print("error", values),
});
Object.assign(globalThis, { plot, paint });

self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  print("error", [event.reason]);
});
self.addEventListener("error", (event) => {
  event.preventDefault();
  print("error", [event.error ?? event.message]);
});
self.addEventListener("message", ({ data }: MessageEvent<ToCode>) => {
  if (data === "shown") shown();
  else if (typeof data?.code === "string") void run(data);
});
