// The workers of the engine's threads. They run the script of a variant, which detects that it runs as a thread.

import { kWorkers } from "../../files.js";
import type { ThreadWorker } from "../bridge/native.js";
import { EdgeGradError } from "../errors/errors.js";
import { queueMicrotask } from "../host/host.js";
import { nodeFiles, nodeProcess } from "../host/node.js";
import { startTimeout } from "../host/timeout.js";
import { addressed } from "../start/address.js";
import type { Variant } from "../start/builds.js";
import { moduleFlags } from "../start/module_flags.js";
import { faultOf } from "../start/start_failure.js";
import { rejectAll } from "./keep_alive.js";
import {
  adviceOnWorkers,
  type CreateWorker,
  createdBy,
  kForbidden,
  trusted,
} from "./worker_script.js";

/** Threads are not available here; the rest of the engine is. */
export class ThreadsFailure extends EdgeGradError {}

/** The workers cannot be started. */
export class WorkerFailure extends ThreadsFailure {
  constructor(variant: Variant, reason: string, options?: ErrorOptions) {
    const advice =
      adviceOnWorkers(reason) ??
      `They run the file edgegrad-${variant}.mjs: serve it beside the .wasm file, as JavaScript and, from another ` +
        "origin, with Access-Control-Allow-Origin; or pass the location of both as wasmUrl.";
    super(
      "Internal",
      `[init] the workers of the build "${variant}" could not be started: ${reason.replace(/\.$/, "")}. ${advice}`,
      options,
    );
  }
}

/** The first worker must have loaded its script within this time; otherwise the start fails. */
const kFirstTimeout = 10_000; // ms

/** Any later worker must have done so within this time; otherwise it counts as dead, so that its work does not wait forever. */
const kLaterTimeout = 30_000; // ms

/** Is told why a worker has died, and whether it is certain that it no longer runs. */
type DeathListener = (reason: string, hasExited: boolean) => void;

/** The workers of one started module. */
export class Workers {
  /** Called with the reason when a worker dies, instead of the handling for the engine's own threads. */
  private readonly listeners = new WeakMap<ThreadWorker, DeathListener>();
  private readonly dead = new WeakMap<ThreadWorker, Parameters<DeathListener>>();
  private readonly first: Promise<void>;
  private firstRuns: () => void = () => undefined;
  private firstFailed: (error: WorkerFailure) => void = () => undefined;
  /** Cancel the timeouts of workers that have not loaded their script yet. */
  private readonly stopTimeouts = new Map<ThreadWorker, () => void>();
  private isStopped = false;
  // In Node construct() checks that the script exists.
  private hasRun = nodeFiles() !== undefined;
  private failed: EdgeGradError | null = null;
  /** The address of the script that was run. */
  private address: string | undefined;
  /** True once a content security policy has forbidden a worker. */
  private isForbidden = false;
  private readonly refused = ({ effectiveDirective }: SecurityPolicyViolationEvent) => {
    if (effectiveDirective === "worker-src") this.isForbidden = true;
  };

  /** `script` is the address of the workers' script, if it is not beside the installed package; `create` is the program's own constructor. */
  constructor(
    private readonly variant: Variant,
    private readonly script: string | undefined,
    private readonly create: CreateWorker | undefined,
  ) {
    this.first = new Promise((resolve, reject) => {
      this.firstRuns = resolve;
      this.firstFailed = reject;
    });
    this.first.catch(() => undefined);
    globalThis.addEventListener?.("securitypolicyviolation", this.refused);
  }

  /** Constructs a worker; throws WorkerFailure where that is not allowed. */
  make(): ThreadWorker {
    const worker = this.construct();
    // Emscripten's own handler would throw an uncaught error, which ends a Node process.
    Object.defineProperty(worker, "onerror", { get: () => () => undefined, set: () => undefined });
    const died = (reason: string, hasExited = false) => this.died(worker, reason, hasExited);
    this.expectAnswer(worker);
    worker.on?.("error", (error) => died(error.message));
    worker.on?.("exit", (code) => died(`it exited with code ${code}`, true));
    worker.addEventListener?.("error", (event) => {
      event.preventDefault();
      died(event.message ?? "its script could not be loaded");
    });
    worker.addEventListener?.("message", ({ data }) => {
      const { edgegradRuns, cmd } = data as { edgegradRuns?: true; cmd?: string };
      // Emscripten's own message comes later, but scripts of other builds send only that one; init() then reports the mismatch.
      if (edgegradRuns === true || cmd === "loaded") this.runs(worker);
    });
    return worker;
  }

  /** Resolves when a worker has loaded its script; rejects with WorkerFailure when the first one fails, or none has in time. */
  async untilFirstRuns(): Promise<void> {
    if (this.hasRun) return;
    const text = `none of them answered within ${kFirstTimeout / 1000} s`;
    const late = () => this.firstFailed(new WorkerFailure(this.variant, text));
    const stopTimeout = startTimeout(kFirstTimeout, late);
    await this.first.finally(stopTimeout);
  }

  /** Returns an error of the start; of workers that did not start, with the reason that the browser does not tell. */
  async withReason(error: unknown): Promise<unknown> {
    if (!(error instanceof WorkerFailure)) return error;
    const fault = await faultOf(this.address, true);
    const reason = this.isForbidden ? kForbidden : fault;
    return reason === undefined ? error : new WorkerFailure(this.variant, reason, { cause: error });
  }

  /** Calls `listener` when a worker dies. */
  watch(worker: ThreadWorker, listener: DeathListener): void {
    this.listeners.set(worker, listener);
    const how = this.dead.get(worker);
    if (how !== undefined) queueMicrotask(() => listener(...how));
  }

  /** Tells this object that workers are being stopped on purpose, so that none is reported as dead. */
  stop(): void {
    this.isStopped = true;
    globalThis.removeEventListener?.("securitypolicyviolation", this.refused);
    for (const worker of this.stopTimeouts.keys()) this.stopWaiting(worker);
  }

  /** The error for calls that need the engine's threads, once one of these has ended; null while all of them run. */
  get failure(): EdgeGradError | null {
    return this.failed;
  }

  private runs(worker: ThreadWorker): void {
    this.stopWaiting(worker);
    this.hasRun = true;
    this.firstRuns();
  }

  // Treats a worker as dead if it does not answer in time.
  private expectAnswer(worker: ThreadWorker): void {
    // Node reports a missing script itself.
    if (nodeFiles() !== undefined) return;
    const reason = `its script did not answer within ${kLaterTimeout / 1000} s`;
    const stopTimeout = startTimeout(kLaterTimeout, () => this.died(worker, reason, false));
    this.stopTimeouts.set(worker, stopTimeout);
  }

  private stopWaiting(worker: ThreadWorker): void {
    this.stopTimeouts.get(worker)?.();
    this.stopTimeouts.delete(worker);
  }

  private died(worker: ThreadWorker, reason: string, hasExited: boolean): void {
    if (this.isStopped || worker.isDismissed || this.dead.has(worker)) return;
    this.stopWaiting(worker);
    this.dead.set(worker, [reason, hasExited]);
    this.firstFailed(new WorkerFailure(this.variant, reason));
    const listener = this.listeners.get(worker);
    if (listener !== undefined) {
      listener(reason, hasExited);
      return;
    }
    const text = `[init] a thread of the engine has ended: ${reason}. Call shutdown() and init() again.`;
    this.failed ??= this.hasRun
      ? new EdgeGradError("Internal", text)
      : new WorkerFailure(this.variant, reason);
    rejectAll(() => this.failed);
  }

  private construct(): ThreadWorker {
    try {
      return this.constructAnywhere() as ThreadWorker;
    } catch (error) {
      if (EdgeGradError.isOne(error)) throw error;
      throw new WorkerFailure(this.variant, (error as Error).message, { cause: error });
    }
  }

  private constructAnywhere(): Worker {
    const make = kWorkers[this.variant];
    if (make === undefined) throw new Error("this build has no threads");
    const script = this.script ?? scriptOf(make);
    this.address = script;
    if (script.startsWith("file:") && nodeFiles()?.existsSync(new URL(script)) === false) {
      throw new Error(`there is no ${script}`);
    }
    if (this.create !== undefined)
      return createdBy(this.create, script, argumentsOf(make)[1]) as Worker;
    return workerOf(isForeign(script) ? blobOf(script) : script, make);
  }
}

// A page must not construct a worker from another origin. Chromium throws at once; other browsers send an error event.
function isForeign(script: string): boolean {
  if (nodeWorker() !== undefined) return false;
  const { location, origin } = globalThis;
  return new URL(script, location.href).origin !== origin;
}

// A page may, however, construct one from a blob that imports the script.
function blobOf(script: string): string {
  const text = `import ${JSON.stringify(script)};`;
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

type WorkerArguments = ConstructorParameters<typeof Worker>;

// A worker like that of `make`, but with another script.
function workerOf(script: string, make: () => Worker): Worker {
  const [, options] = argumentsOf(make);
  const NodeWorker = nodeWorker();
  if (NodeWorker === undefined) return new globalThis.Worker(trusted(script), options);
  const execArgv = moduleFlags(nodeProcess()?.execArgv ?? []);
  return new NodeWorker(new URL(script), { ...options, execArgv }) as unknown as Worker;
}

// Deno and Bun also have the global Worker of browsers, but Emscripten's script uses Node's Worker wherever it finds Node's API.
function nodeWorker() {
  return nodeProcess()?.getBuiltinModule("node:worker_threads").Worker;
}

/** Returns the address that a bundler gave the script. */
function scriptOf(make: () => Worker): string {
  return String(argumentsOf(make)[0]);
}

// Returns the arguments that `make` passes to Worker, which a bundler may have rewritten.
function argumentsOf(make: () => Worker): WorkerArguments {
  const { Worker } = globalThis;
  let found: WorkerArguments | undefined;
  globalThis.Worker = class {
    constructor(...given: WorkerArguments) {
      found = given;
    }
  } as unknown as typeof Worker;
  try {
    addressed(make);
  } finally {
    globalThis.Worker = Worker;
  }
  if (found === undefined) throw new Error("the address of their script is not known");
  return found;
}
