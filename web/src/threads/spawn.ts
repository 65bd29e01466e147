// eg.spawn(): runs user functions on threads that share this engine.
//
// The engine's own workers (pool.ts) run one function at a time; an idle worker stays alive for a while, with the modules that it
// has loaded, for the next function. A worker that the user constructed runs its functions in order. In a worker, spawn() sends
// a request to the thread that called init(), whose event loop forwards tensors and results.

import { addStopListener, startedModule } from "../engine/lifecycle.js";
import { describe, EdgeGradError, fail, refusal } from "../runtime/errors/errors.js";
import { type AbortSignalLike, isAbortSignal } from "../runtime/host/abort.js";
import { nodeProcess } from "../runtime/host/node.js";
import { untilSettled } from "../runtime/threads/keep_alive.js";
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
import { isPlain, type Portable, receive, release, send } from "./portable.js";
import { startThreadOn, UserWorker, type WorkerLike } from "./user_worker.js";

let pool: Pool | null = null;
let userWorkers = new Set<EngineWorker>();
let lastRequest = 0;
const given = new WeakMap<WorkerLike, EngineWorker>();

/** The last argument of `spawn`, if it is an object with nothing but a signal. */
export interface SpawnOptions {
  /** Ends the call. */
  readonly signal: AbortSignalLike;
}

/** Where `spawn` runs a function: a worker, or the URL of a module. */
type Place = string | { readonly href: string } | WorkerLike;

/**
 * Runs a function on another thread and returns its result. Tensors in the arguments and in the result, also inside
 * arrays and plain objects, are shared; other values are cloned. When the function ends, its tensors, including its
 * arguments, are freed on that thread, except those that it returns or has passed to keep().
 *
 * `where` is a worker whose script calls `expose({ name })`. Bundlers include the script if they see this expression:
 *
 *     const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
 *     await eg.spawn(worker, "train", weights, 100);
 *
 * Such a worker runs one function after the other and is terminated when the engine stops. Alternatively, `where` is the
 * URL of an ES module that can be imported at run time, and `name` one of its exports. These functions run in the engine's
 * own workers, at most `init({ spawnWorkers })` at the same time; further calls are queued. Such a function may call
 * spawn() itself. A relative URL is resolved against the page or, in Node, the working directory. In both cases the
 * script imports 'edgegrad' and uses this same engine.
 *
 * Rejects with whatever the function throws; with InvalidArgument if there are no threads or the worker cannot be
 * used; and with Internal if the worker ends before the function does. A call that an idle worker of the engine never began,
 * because it had just ended, runs in another one.
 *
 * The last argument may be an object with an AbortSignal and nothing else, `{ signal }`, which the function does not receive. Once the
 * signal is given, the promise rejects with its reason. A call that has not begun then never does. A function that has begun can
 * only be stopped by terminating its worker: a worker of the engine is replaced, and other calls go on; a worker that you constructed
 * ends, and all its calls reject.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the program knows what its functions return.
export function spawn<T = any>(
  where: Place,
  name: string,
  ...args: readonly [...args: readonly unknown[], options: SpawnOptions]
): Promise<T>;
// biome-ignore lint/suspicious/noExplicitAny: as above.
export function spawn<T = any>(where: Place, name: string, ...args: readonly unknown[]): Promise<T>;
export async function spawn<T>(
  where: Place,
  name: string,
  ...given: readonly unknown[]
): Promise<T> {
  if (typeof name !== "string") fail("InvalidArgument", "spawn", refusal("name", "a string", name));
  const host = hostHere();
  const url = isWorker(where) ? null : addressOf(where);
  if (url === null && host !== undefined) {
    const message = "a Worker can only be passed to spawn() on the thread that called init().";
    fail("InvalidArgument", "spawn", `${message} On this thread, pass the URL of a module.`);
  }
  const { args, signal } = withoutSignal(given);
  let stop: () => void;
  const start = (settle: (answer: Answer) => void, reject: (error: unknown) => void) => {
    try {
      send(args, (portable, areCopies) => {
        if (host !== undefined) stop = ask(host, url as string, name, portable, settle);
        else {
          const call = { name, args: portable, areCopies, settle };
          stop = dispatch(where as WorkerLike, url, { ...call, requester: null, depth: 0 });
        }
      });
    } catch (error) {
      reject(notPortable(error));
    }
  };
  const answer = await untilSettled("spawn", start, {
    signal,
    stop: () => stop(),
    discard: ({ value }) => release(value?.handles ?? []),
  });
  if (answer.value === undefined) throw thrownBy(answer);
  // Called here and not in the message handler, so that the tensors belong to the caller's scope.
  return receive(answer.value)[0] as T;
}

// An object with a signal cannot be sent, so it is never meant for the function.
function withoutSignal(given: readonly unknown[]) {
  const last = given[given.length - 1];
  if (!isPlain(last) || Object.keys(last).join() !== "signal") return { args: given };
  const { signal } = last as { signal: unknown };
  return isAbortSignal(signal) ? { args: given.slice(0, -1), signal } : { args: given };
}

// Gives a call to a worker. Returns a function that stops it.
function dispatch(worker: WorkerLike, url: string | null, task: Omit<Task, "url">): () => void {
  const isThis = (other: Task) => other.settle === task.settle;
  if (url === null) {
    const engineWorker = workerOf(worker);
    engineWorker.run({ url, ...task });
    return () => engineWorker.cancel(isThis);
  }
  const ofEngine = poolHere();
  ofEngine.add({ url: absoluteUrl(url), ...task });
  return () => ofEngine.cancel(isThis);
}

// On an engine worker: sends the call to the thread that called init(). Returns a function that stops it; the thread answers then, too.
function ask(
  { port, replies }: Host,
  where: string,
  name: string,
  args: Portable,
  settle: (answer: Answer) => void,
): () => void {
  const request = ++lastRequest;
  port?.postMessage({ request, where, name, args } satisfies Request);
  replies?.set(request, (answer) => {
    replies.delete(request);
    settle(answer);
  });
  return () => port?.postMessage({ aborted: request });
}

// Handles a request of a worker.
function serve(worker: EngineWorker, request: Request): void {
  const { where, name, args, request: number } = request;
  const settle = (answer: Answer) => {
    worker.reply(request, answer);
    pool?.pump();
  };
  try {
    const url = absoluteUrl(where);
    const call = { url, name, args, areCopies: true, settle };
    poolHere().add({ ...call, requester: worker, request: number, depth: worker.depth + 1 });
  } catch (error) {
    release(args.handles);
    settle(failureOf(error));
  }
}

function notPortable(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "DataCloneError") return error;
  return new EdgeGradError(
    "InvalidArgument",
    `[spawn] an argument cannot be sent to another thread: ${error.message} Send tensors (for a model: ` +
      "its stateDict()), plain objects and arrays, and create other objects there.",
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
  const user: UserWorker = new UserWorker(worker, (reason, hasExited) =>
    engineWorker.end(reason, hasExited),
  );
  const engineWorker: EngineWorker = new EngineWorker(user, {
    idle: () => undefined,
    ended: (self) => {
      userWorkers.delete(self);
      pool?.forget(self);
    },
    requested: serve,
    aborted: (self, request) => pool?.aborted(self, request),
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

// An object that only looks like a worker may throw anything.
function unusable(error: unknown): EdgeGradError {
  if (error instanceof EdgeGradError) return error;
  const text = "[spawn] the worker cannot be used: it does not accept messages.";
  return new EdgeGradError("InvalidArgument", text, { cause: error });
}

// Deno and Bun also have browser-style workers, which cannot become threads of a module that was started with Node's API.
function checkKind(worker: WorkerLike): void {
  const versions = nodeProcess()?.versions;
  if ((versions?.deno ?? versions?.bun) === undefined || "on" in worker) return;
  const text = "expected a Worker of the module node:worker_threads, got a browser-style Worker.";
  fail("InvalidArgument", "spawn", text);
}

function endAll(): void {
  const reason = "the engine was shut down";
  for (const worker of [...userWorkers]) void worker.end(reason);
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
    `expected a Worker, or the URL of a module as a string or URL; got ${describe(where)}.`,
  );
}

function absoluteUrl(url: string): string {
  if (/^[a-z][a-z0-9+.-]+:/i.test(url)) return url;
  const node = nodeProcess()?.getBuiltinModule("node:url");
  if (node !== undefined) return node.pathToFileURL(url).href;
  return new URL(url, globalThis.location.href).href;
}
