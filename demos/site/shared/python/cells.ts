// Cells of Python: starts Pyodide in this worker, connects it with the engine, and runs them by cells.py.

import * as eg from "edgegrad";
import { install, type PyodideLike } from "edgegrad/pyodide";
import type { PythonRequest, Table } from "../code/code_messages.js";
import { plot, post, printLine } from "../code/code_output.js";
import program from "./cells.py?raw";

// What this file uses of Pyodide beyond the bridge.
interface Python extends PyodideLike {
  setStdout(options: { batched: (text: string) => void }): void;
  setStderr(options: { batched: (text: string) => void }): void;
  setInterruptBuffer(buffer: Uint8Array): void;
}

type RunCell = (code: string) => Promise<void> | undefined;

const kReportMs = 100;
// When the bytes are there, Python still has to start.
const kAllBytes = 0.99;

let started: Promise<RunCell> | null = null;

/** Runs a cell; what it prints and raises goes to the page. Rejects if Python cannot be started. */
export async function runCell(code: string, request: PythonRequest): Promise<void> {
  started ??= start(request);
  try {
    await started;
  } catch (error) {
    started = null;
    throw error;
  }
  const { interrupt } = request;
  // A stop that came after the end of the last cell.
  if (interrupt !== null) new Uint8Array(interrupt)[0] = 0;
  await (await started)(code);
}

async function start({ folder, bytes, wheel, interrupt }: PythonRequest): Promise<RunCell> {
  const python = await whileCounting(folder, bytes, async () => {
    const { loadPyodide } = await import(/* @vite-ignore */ `${folder}pyodide.mjs`);
    return (await loadPyodide({ indexURL: folder })) as Python;
  });
  python.setStdout({ batched: (text) => printLine({ kind: "log", text }) });
  python.setStderr({ batched: (text) => printLine({ kind: "warning", text }) });
  python.registerJsModule("_page", kPage);
  await install(python, { engine: eg, wheel, asTorch: true });
  python.runPython(program);
  if (interrupt !== null) python.setInterruptBuffer(new Uint8Array(interrupt));
  post({ arrived: 1 });
  return python.runPython("run");
}

const kPage = {
  plot,
  text: (kind: "log" | "warning", text: string) => printLine({ kind, text }),
  table(text: string, title: string, cells: string): void {
    const rows = cells.split("\n").map((row) => row.split("\t"));
    printLine({ kind: "log", text, table: { title, rows } satisfies Table });
  },
  error: (text: string, line?: number) =>
    printLine({ kind: "error", text, ...(line && { at: line }) }),
};

// Pyodide says nothing of its progress: while it loads, the bytes of its files are counted.
async function whileCounting<T>(folder: string, bytes: number, load: () => Promise<T>): Promise<T> {
  const fetchOfWorker = globalThis.fetch;
  let arrived = 0;
  let reportAt = 0;
  const count = (size: number) => {
    arrived += size;
    const now = performance.now();
    if (now < reportAt) return;
    reportAt = now + kReportMs;
    post({ arrived: Math.min(arrived / bytes, kAllBytes) });
  };
  globalThis.fetch = async (...given) => {
    const response = await fetchOfWorker(...given);
    if (!response.url.startsWith(folder) || response.body === null) return response;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        count(chunk.byteLength);
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(counter), response);
  };
  try {
    return await load();
  } finally {
    globalThis.fetch = fetchOfWorker;
  }
}
