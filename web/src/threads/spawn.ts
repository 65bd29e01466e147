// eg.spawn(): functions of the user on threads that share this engine.
//
// Workers of the engine's own (pool.ts) run one function at a time and are kept for some time for the next one, with the
// modules they have loaded. One that the user constructed runs what it is asked for in turn. In a worker, spawn() asks the
// thread that called init(), whose event loop passes tensors and outcomes on.

import { addStopListener, startedModule } from "../engine/lifecycle.js";
import { describe, EdgeGradError, fail, refusal } from "../runtime/errors.js";
import { untilSettled } from "../runtime/keep_alive.js";
import {
  type Answer,
  EngineWorker,
  failureOf,
  type Request,
  type Task,
  thrownBy,
} from "./engine_worker.js";
import { type Host, hostHere } from "./host.js";
import { Pool } from "./pool.js";
import { type Portable, receive, release, send } from "./portable.js";
import { startThreadOn, UserWorker, type WorkerLike } from "./user_worker.js";

let pool: Pool | null = null;
let userWorkers = new Set<EngineWorker>();
let lastRequest = 0;
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
 * can be imported at run time, and `name` one of its exports; these run in workers of the engine's own, of which
 * `init({ spawnWorkers })` are busy at once, and wait for their turn where there are more. Such a function may call
 * spawn() itself. A relative address is relative to the page or, in Node, to the working directory. Either script
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
  if (typeof name !== "string") fail("InvalidArgument", "spawn", refusal("name", "a text", name));
  const host = hostHere();
  const url = isWorker(where) ? null : addressOf(where);
  if (url === null && host !== undefined) {
    const told = "a Worker can be given to spawn only on the thread that called init().";
    fail("InvalidArgument", "spawn", `${told} Here give it the address of a module.`);
  }
  const answer = await untilSettled<Answer>("spawn", (settle, reject) => {
    try {
      send(args, (portable) => {
        if (host !== undefined) ask(host, url as string, name, portable, settle);
        else dispatch(where as WorkerLike, url, { name, args: portable, depth: 0, settle });
      });
    } catch (error) {
      reject(notPortable(error));
    }
  });
  if (answer.value === undefined) throw thrownBy(answer);
  // Here and not where the answer came in, tensors belong to the caller's scope.
  return receive(answer.value)[0] as T;
}

function dispatch(worker: WorkerLike, url: string | null, task: Omit<Task, "url">): void {
  if (url === null) workerOf(worker).run({ url, ...task });
  else poolHere().add({ url: absoluteUrl(url), ...task });
}

// On an engine worker: has the thread that called init() do it.
function ask(
  { port, replies }: Host,
  where: string,
  name: string,
  args: Portable,
  settle: (answer: Answer) => void,
): void {
  const request = ++lastRequest;
  port?.postMessage({ request, where, name, args } satisfies Request);
  replies?.set(request, (answer) => {
    replies.delete(request);
    settle(answer);
  });
}

// What a worker asks for.
function serve(worker: EngineWorker, request: Request): void {
  const { where, name, args } = request;
  const settle = (answer: Answer) => {
    worker.reply(request, answer);
    pool?.pump();
  };
  try {
    poolHere().add(
      { url: absoluteUrl(where), name, args, depth: worker.depth + 1, settle },
      worker,
    );
  } catch (error) {
    release(args.handles);
    settle(failureOf(error));
  }
}

function notPortable(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "DataCloneError") return error;
  return new EdgeGradError(
    "InvalidArgument",
    `[spawn] an argument cannot be sent to another thread: ${error.message} Send tensors (of a model: ` +
      "its stateDict()), plain objects and arrays, and build the rest there.",
  );
}

function isWorker(where: object | string | null): where is WorkerLike {
  return typeof where === "object" && where !== null && "postMessage" in where;
}

function poolHere(): Pool {
  startedModule();
  if (pool === null) {
    pool = new Pool(serve);
    addStopListener(endAll);
  }
  return pool;
}

function workerOf(worker: WorkerLike): EngineWorker {
  const known = given.get(worker);
  if (known !== undefined) return known;
  checkKind(worker);
  const module = startedModule();
  const user = new UserWorker(worker, (reason) => engineWorker.end(reason));
  const engineWorker = new EngineWorker(user, {
    idle: () => undefined,
    ended: (self) => {
      userWorkers.delete(self);
      pool?.forget(self);
    },
    requested: serve,
  });
  given.set(worker, engineWorker);
  poolHere();
  userWorkers.add(engineWorker);
  startThreadOn(user, module).then(
    (thread) => engineWorker.connect(thread),
    (error: unknown) => engineWorker.fail(unusable(error)),
  );
  return engineWorker;
}

// What passes for a worker may throw anything.
function unusable(error: unknown): EdgeGradError {
  if (error instanceof EdgeGradError) return error;
  const text = "[spawn] the worker cannot be used: it takes no messages.";
  return new EdgeGradError("InvalidArgument", text, { cause: error });
}

// Deno and Bun have a page's workers beside Node's, which know nothing of the threads of a module started as in Node.
function checkKind(worker: WorkerLike): void {
  const { deno, bun } = globalThis.process?.versions ?? {};
  if ((deno ?? bun) === undefined || "on" in worker) return;
  const text = "expected a Worker of the module node:worker_threads; got one of a page's kind.";
  fail("InvalidArgument", "spawn", text);
}

function endAll(): void {
  const reason = "the engine was shut down";
  for (const worker of [...userWorkers]) worker.end(reason);
  userWorkers = new Set();
  pool?.end(reason);
  pool = null;
}

function addressOf(where: string | { readonly href: string }): string {
  const url = typeof where === "string" ? where : where?.href;
  if (typeof url === "string") return url;
  fail(
    "InvalidArgument",
    "spawn",
    `expected a Worker, or the address of a module as string or URL; got ${describe(where)}.`,
  );
}

function absoluteUrl(url: string): string {
  if (/^[a-z][a-z0-9+.-]+:/i.test(url)) return url;
  const node = globalThis.process?.getBuiltinModule?.("node:url");
  if (node !== undefined) return node.pathToFileURL(url).href;
  return new URL(url, globalThis.location.href).href;
}
