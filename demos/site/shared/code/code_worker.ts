// Runs a visitor's module, or a cell of Python, and sends its output to the page.

import type { Tensor } from "edgegrad";
import type { ListenerHandle, RunLog } from "edgegrad/vis";
import type { CodeRequest, ToCode } from "./code_messages.js";
import { CodeError, importCode } from "./code_module.js";
import { flush, plot, post, print, record } from "./code_output.js";
import { type Callable, paintingOf } from "./code_painting.js";

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
  return log.listen((one, run) => record({ record: one, run }));
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

async function run({ code, files = {}, python }: CodeRequest): Promise<void> {
  try {
    if (python === undefined) await importCode(code, { files, replace: listening });
    else await (await import("../python/cells.js")).runCell(code, python);
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
