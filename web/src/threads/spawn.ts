// eg.spawn(): functions of the user on threads that share this engine.
//
// A worker of the engine's own runs one job at a time and is kept for the next one, with the modules it has loaded. One
// that the user constructed runs what it is asked for in turn.

import { addStopListener, startedModule } from "../engine/lifecycle.js";
import { checked, native } from "../runtime/bridge.js";
import { describe, type EdgeGradError, fail } from "../runtime/errors.js";
import { EngineWorker } from "./engine_worker.js";
import { isEngineWorker } from "./host.js";
import { startThreadOn, UserWorker, type WorkerLike } from "./user_worker.js";

let idle: EngineWorker[] = [];
let all = new Set<EngineWorker>();
const given = new WeakMap<WorkerLike, EngineWorker>();

/**
 * Runs a function on a thread of its own and returns what it returns. Tensors among the arguments and in the result,
 * also in arrays and plain objects, are shared; other values are cloned. The function's tensors, its arguments
 * included, are freed when it ends, except those it returns and those it gave to keep().
 *
 * `where` is a worker whose script calls `expose({ name })`, which bundlers bundle when they see it constructed:
 *
 *     const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
 *     await eg.spawn(worker, "train", weights, 100);
 *
 * It runs one function after the other, and ends with the engine. Or `where` is the address of an ES module, as it
 * can be imported at run time, and `name` one of its exports; threads for these are the engine's own, as many as are
 * asked for at once. A relative address is relative to the page or, in Node, to the working directory. Either script
 * imports 'edgegrad' as this same engine.
 *
 * Fails with what the function throws, with InvalidArgument where there are no threads or the worker cannot be
 * used, and with Internal when the worker ends before the function does.
 */
export async function spawn<T = unknown>(
  where: string | { readonly href: string } | WorkerLike,
  name: string,
  ...args: readonly unknown[]
): Promise<T> {
  if (isEngineWorker()) {
    fail("InvalidArgument", "spawn", "call it on the thread that called init(), not in a worker.");
  }
  if (isWorker(where)) return (await workerOf(where).run({ url: null, name }, args)) as T;
  const url = absoluteUrl(where);
  const worker = idle.pop() ?? startWorker();
  return (await worker.run({ url, name }, args)) as T;
}

function isWorker(where: object | string | null): where is WorkerLike {
  return typeof where === "object" && where !== null && "postMessage" in where;
}

function startWorker(): EngineWorker {
  const thread = checked(native.startThread());
  const worker = startedModule().PThread?.pthreads[thread];
  if (worker === undefined) fail("Internal", "spawn", "the new thread has no worker.");
  const started = new EngineWorker(worker, (self, isIdle) => {
    if (isIdle) idle.push(self);
    else forget(self);
  });
  started.connect(thread);
  remember(started);
  return started;
}

function workerOf(worker: WorkerLike): EngineWorker {
  const known = given.get(worker);
  if (known !== undefined) return known;
  checkKind(worker);
  const module = startedModule();
  const user = new UserWorker(worker, (reason) => engineWorker.end(reason));
  const engineWorker = new EngineWorker(user, (self, isIdle) => {
    if (!isIdle) forget(self);
  });
  given.set(worker, engineWorker);
  remember(engineWorker);
  startThreadOn(user, module).then(
    (thread) => engineWorker.connect(thread),
    (error: EdgeGradError) => engineWorker.fail(error),
  );
  return engineWorker;
}

// Deno and Bun have a page's workers beside Node's, which know nothing of the threads of a module started as in Node.
function checkKind(worker: WorkerLike): void {
  const { deno, bun } = globalThis.process?.versions ?? {};
  if ((deno ?? bun) === undefined || "on" in worker) return;
  const text = "expected a Worker of the module node:worker_threads; got one of a page's kind.";
  fail("InvalidArgument", "spawn", text);
}

function remember(worker: EngineWorker): void {
  if (all.size === 0) addStopListener(endAll);
  all.add(worker);
}

function forget(worker: EngineWorker): void {
  all.delete(worker);
  idle = idle.filter((other) => other !== worker);
}

function endAll(): void {
  for (const worker of [...all]) worker.end("the engine was shut down");
  all = new Set();
  idle = [];
}

function absoluteUrl(where: string | { readonly href: string }): string {
  const url = typeof where === "string" ? where : where?.href;
  if (typeof url !== "string") {
    fail(
      "InvalidArgument",
      "spawn",
      `expected a Worker, or the address of a module as string or URL; got ${describe(where)}.`,
    );
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(url)) return url;
  const node = globalThis.process?.getBuiltinModule?.("node:url");
  if (node !== undefined) return node.pathToFileURL(url).href;
  return new URL(url, globalThis.location.href).href;
}
