// eg.expose(): the functions of a worker that the user constructs and passes to eg.spawn().
//
// The worker reports that it has functions ("exposed"), the main thread asks it to join the engine, and the worker reports
// when the module's script is ready for Emscripten's messages ("listening"). Either side may start first; messages that
// the other side may have missed are repeated.

import { expectModule, hasOwnEngine, joinModule } from "../engine/lifecycle.js";
import { kLoaders } from "../files.js";
import { kBorderHash } from "../generated/border.js";
import type { NativeModule } from "../runtime/bridge/native.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { kTimers } from "../runtime/host/host.js";
import { nodeProcess } from "../runtime/host/node.js";
import type { Variant } from "../runtime/start/builds.js";
import { importAgain } from "../runtime/start/import_again.js";
import { type Host, isEngineWorker, runJob, type WorkerFunction } from "./host.js";

/** The message of the main thread that asks a worker to join its engine. @internal */
export interface JoinMessage {
  readonly edgegradJoin: { readonly variant: Variant; readonly borderHash: number };
}

/** The messages of the worker while it joins. @internal */
export interface JoinAnswer {
  readonly edgegradWorker: "exposed" | "listening" | "failed";
  /** Why it failed. */
  readonly reason?: string;
}

interface Parent {
  postMessage(message: JoinAnswer): void;
  listen(listener: (message: unknown) => void): void;
}

let functions: Record<string, WorkerFunction> | null = null;
let isJoining = false;

/** Implements expose() except for the work of the layers above (start.ts). @internal */
export function exposeFunctions(exposed: Readonly<Record<string, WorkerFunction>>): void {
  const wrong = Object.entries(exposed ?? {}).find(([, value]) => typeof value !== "function");
  if (typeof exposed !== "object" || exposed === null || wrong !== undefined) {
    const got = wrong === undefined ? describe(exposed) : `${typeof wrong[1]} for "${wrong[0]}"`;
    fail("InvalidArgument", "expose", `expected functions by name, { train }; got ${got}.`);
  }
  if (functions !== null) {
    Object.assign(functions, exposed);
    return;
  }
  // In a module of spawn(url), the exports are used instead.
  if (isEngineWorker()) return;
  const parent = parentHere();
  if (parent === null) {
    const where = "in the script of a worker (in Deno and Bun one of node:worker_threads)";
    fail("InvalidArgument", "expose", `call it ${where}, not on the main thread.`);
  }
  functions = { ...exposed };
  expectModule();
  parent.listen((message) => {
    if (!isJoin(message) || isJoining) return;
    isJoining = true;
    join(message, parent).catch((error: unknown) => {
      parent.postMessage({ edgegradWorker: "failed", reason: String(error) });
    });
  });
  parent.postMessage({ edgegradWorker: "exposed" });
}

function isJoin(message: unknown): message is JoinMessage {
  return typeof message === "object" && message !== null && "edgegradJoin" in message;
}

async function join({ edgegradJoin }: JoinMessage, parent: Parent): Promise<void> {
  const { variant, borderHash } = edgegradJoin;
  if (hasOwnEngine())
    throw new Error("it has started a separate engine: call expose() before init()");
  if (borderHash !== kBorderHash) {
    throw new Error("its copy of edgegrad is from a different build than the main thread's");
  }
  const host: Host = {
    run: runJob,
    functions: functions ?? {},
    started: () => joinModule(host.module as NativeModule),
  };
  const { default: start } = await importAgain(kLoaders[variant]);
  await start({
    isThread: true,
    poolSize: 0,
    timers: kTimers,
    host,
    threadListens: () => parent.postMessage({ edgegradWorker: "listening" }),
  });
}

// Returns the connection to the thread that constructed this worker; null on a main thread.
function parentHere(): Parent | null {
  const node = nodeProcess()?.getBuiltinModule("node:worker_threads");
  if (node !== undefined) {
    const { parentPort } = node;
    if (parentPort === null) return null;
    return {
      postMessage: (message) => parentPort.postMessage(message),
      listen: (listener) => parentPort.on("message", listener),
    };
  }
  // Only dedicated workers have this class; they communicate without a port object.
  if (!("DedicatedWorkerGlobalScope" in globalThis)) return null;
  return {
    postMessage: (message) => postMessage(message),
    listen: (listener) => addEventListener("message", ({ data }) => listener(data)),
  };
}
